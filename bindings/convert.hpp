// What crosses between Python and the core: arrays, trees, frontiers, switches and results.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include "contree/contree.hpp"

namespace contree_python {
namespace nb = nanobind;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels = Vector<std::int32_t>;
using Targets = Vector<std::int64_t>;
using Weights = std::optional<Vector<contree::Score>>;
using Categories = std::optional<Vector<std::int32_t>>;

// The types of contree/_typing.py, so that the stub of this module names them.
struct Nodes : nb::dict {
    NB_OBJECT_DEFAULT(Nodes, nb::dict, "contree._typing.Nodes", PyDict_Check)
};
struct Answer : nb::dict {
    NB_OBJECT_DEFAULT(Answer, nb::dict, "contree._typing.Answer", PyDict_Check)
};
struct Snapshot : nb::dict {
    NB_OBJECT_DEFAULT(Snapshot, nb::dict, "contree._typing.Snapshot", PyDict_Check)
};
struct OpenPart : nb::tuple {
    NB_OBJECT_DEFAULT(OpenPart, nb::tuple, "contree._typing.OpenPart", PyTuple_Check)
};
struct Observer : nb::object {
    NB_OBJECT_DEFAULT(Observer, nb::object, "contree._typing.Observer", PyCallable_Check)
};
using SwitchValues = nb::typed<nb::dict, nb::str, nb::object>;
using SwitchTable = nb::typed<nb::list, nb::typed<nb::dict, nb::str, nb::any>>;

// These read what Python gives.  Each throws std::invalid_argument with the argument's name.
contree::SearchKind search_kind(const std::string& name);
bool is_errors(const std::string& objective);
contree::Switches read_switches(const SwitchValues& given);
contree::Tree read_tree(const Nodes& given, std::size_t features, const Categories& categories);

// In Python a frontier is a tuple (depth, floor, intervals), where the intervals are the rows of an array.
// `words` is the size of a set of ranks: these words follow the numbers of each interval.
contree::Frontier read_frontier(const OpenPart& given, std::size_t words);
OpenPart to_tuple(const contree::Frontier& frontier, std::size_t words);

// `classes` is 0 for squared error; `words` is 0 where no feature is categorical.
Nodes to_dict(contree::Tree from, std::size_t classes, std::size_t words);
Answer to_dict(contree::Result result, std::size_t classes, std::size_t words);

// All switches with their defaults, ranges and meanings.
SwitchTable switch_table();
}  // namespace contree_python
