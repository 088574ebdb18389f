"""What the documents say is so."""

from __future__ import annotations

import doctest
import inspect
import json
import re
from pathlib import Path

import pytest
from sklearn.utils._param_validation import make_constraint

import contree
import contree.distributed
from contree import ConTreeClassifier, _core

ROOT = Path(__file__).resolve().parents[1]


def python_examples(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.DOTALL)


def table_rows(text: str) -> list[list[str]]:
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    return rows


def shown_outputs(path: Path) -> list[tuple[str, str]]:
    """Return the examples of a page that show what they print, each with what is shown."""
    return re.findall(r"```python\n(.*?)```\n+```\n(.*?)```", path.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_first_example_prints_what_is_shown(page, capsys):
    examples = shown_outputs(ROOT / page)
    assert len(examples) == len(python_examples(ROOT / page)) == 1
    for example, shown in examples:
        exec(compile(example, page, "exec"), {})
        assert capsys.readouterr().out == shown


def test_guide_to_the_paper_runs(capsys):
    for example in python_examples(ROOT / "docs" / "guides" / "reproduce-the-paper.md"):
        exec(compile(example, "reproduce-the-paper.md", "exec"), {})
    errors, calls = zip(*map(str.split, capsys.readouterr().out.splitlines()), strict=True)
    assert len(set(errors)) == 1
    assert int(calls[0]) > int(calls[1])


def test_readme_is_short():
    """A person decides in one minute."""
    text = (ROOT / "README.md").read_text()
    assert len(text.split()) <= 900
    assert max(map(len, text.splitlines())) <= 120
    bullets = re.findall(r"^- .*\n(?:  .*\n)*", text, flags=re.MULTILINE)
    assert bullets
    assert max(bullet.count("\n") for bullet in bullets) < 5


def test_exports_example_runs_and_every_export_is_listed(capsys):
    path = ROOT / "docs" / "exports.md"
    for example in python_examples(path):
        exec(compile(example, path.name, "exec"), {})
    assert "'setosa'" in capsys.readouterr().out
    listed = set(re.findall(r"`(\w+)\(", path.read_text().split("```")[0]))
    assert listed == set(contree.export.__all__) | {"from_json"}


def test_the_json_has_the_documented_members():
    text = (ROOT / "docs" / "exports.md").read_text().split("## The JSON")[1]
    members = re.findall(r"^\| (`.*?) \|", text, flags=re.MULTILINE)
    documented = [name for names in members for name in re.findall(r"`(\w+)`", names)]
    clf = ConTreeClassifier(0).fit([[0.0]], [0])
    assert documented == list(json.loads(clf.to_json()))


PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (contree, contree.export, contree.distributed)
    for name in module.__all__
}


@pytest.mark.parametrize("name", [name for name, one in PUBLIC.items() if callable(one)])
def test_docstring_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for files that examples write
    plain = ("FittedTree", "Improvement", "Progress", "SearchReport", "SizeErrorPath")
    (example,) = doctest.DocTestFinder(recurse=False).find(PUBLIC[name], name)
    assert bool(example.examples) == (not name.endswith(plain))
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_readme_names_the_two_commands(command):
    assert command in (ROOT / "README.md").read_text()


def test_every_switch_is_one_row_of_the_options_table():
    text = (ROOT / "docs" / "options.md").read_text().split("## Search options")[1]
    documented = [row[:3] for row in table_rows(text)]
    actual = [
        [row["name"], str(row["default"]), f"{row['low']} to {row['high']}"]
        for row in _core.switches()
    ]
    assert documented == actual


def test_every_parameter_is_one_row_of_the_options_table():
    text = (ROOT / "docs" / "options.md").read_text().split("## Arguments of `fit`")[0]
    documented = {name: default for name, default, *_ in table_rows(text)}
    actual = {name: repr(value) for name, value in ConTreeClassifier().get_params().items()}
    assert documented == actual


def test_every_argument_of_fit_is_one_row_of_the_options_table():
    text = (ROOT / "docs" / "options.md").read_text().split("## Arguments of `fit`")[1]
    documented = [name for name, *_ in table_rows(text.split("## Search options")[0])]
    arguments = list(inspect.signature(ConTreeClassifier.fit).parameters)
    assert documented == [name for name in arguments if name not in ("self", "X", "y")]
    for name in documented:
        text = inspect.getdoc(ConTreeClassifier.fit)
        assert re.search(rf"^{name} : ", text, flags=re.MULTILINE)


def test_every_parameter_is_constrained_and_documented():
    parameters = set(ConTreeClassifier().get_params())
    assert set(ConTreeClassifier._parameter_constraints) == parameters
    for constraints in ConTreeClassifier._parameter_constraints.values():
        assert all(make_constraint(constraint) for constraint in constraints)
    for name in parameters:
        text = inspect.getdoc(ConTreeClassifier)
        assert re.search(rf"^{name} : ", text, flags=re.MULTILINE)


def test_one_version():
    pyproject = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{contree.__version__}"' in pyproject
    assert f"version: {contree.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {contree.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_site_documents_every_public_name():
    """Every name in an ``__all__``, and every method that contree adds to an estimator."""
    pages = "\n".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.rst"))
    documented = set(re.findall(r"^\.\. auto(?:class|function):: (\w+)$", pages, re.MULTILINE))
    names = {*contree.__all__, *contree.export.__all__, *contree.distributed.__all__}
    assert names - documented == {"__version__", "export"}
    methods = set(re.findall(r"automethod:: ConTreeClassifier\.(\w+)$", pages, re.MULTILINE))
    ours = {
        name
        for name, member in inspect.getmembers(ConTreeClassifier, inspect.isroutine)
        if not name.startswith("_") and member.__module__.startswith("contree")
    }
    assert methods == ours


def test_every_example_has_its_place_in_the_gallery():
    places = (ROOT / "docs" / "_extensions" / "gallery_order.py").read_text()
    examples = {path.stem for path in (ROOT / "docs" / "gallery").glob("*/*.py")}
    assert examples <= set(re.findall(r'"(\w+)"', places))


def sources() -> dict[str, str]:
    """Return all source files by path."""
    kinds = (".cpp", ".hpp", ".inl", ".py", ".sh", ".js", ".css")
    folders = ("core", "bindings", "src", "benchmarks", "tests", ".ci")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    return {str(p.relative_to(ROOT)): p.read_text() for p in paths if p.suffix in kinds}


@pytest.mark.parametrize("page", ["docs/paper-map.md", "ARCHITECTURE.md", "core/README.md"])
def test_the_maps_name_what_exists(page):
    files = sources()
    words = {word for text in files.values() for word in re.findall(r"\w+", text)}
    prose = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    for code in re.findall(r"`([^`]+)`", prose):
        name = code.split(" --")[0]
        if re.fullmatch(r"[\w./]+(\.[a-z]{2,3}|/)", name):
            assert any(name in path for path in files) or (ROOT / name).exists(), code
            continue
        for word in re.findall(r"[A-Za-z_]\w*", re.sub(r'".*?"', "", name)):
            assert word in words, code
        for owner, member in re.findall(r"(\w+)::(\w+)", name):
            homes = [t for t in files.values() if re.search(rf"\b(class|struct) {owner}\b", t)]
            assert any(re.search(rf"\b{member}\b", text) for text in homes), code


def test_the_architecture_names_every_module():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    modules = (ROOT / "src" / "contree").rglob("_[a-z]*.py")
    assert [path.name for path in modules if path.stem not in text] == []
