// How threads share a search: the part of BestFirst that starts them, and moves them between open nodes.
#include <thread>

#include "search/best_first.hpp"

namespace contree {

template <class Entry>
Outcome BestFirst<Entry>::run() {
    Outcome outcome;
    {
        std::vector<std::jthread> helpers;
        try {
            for (std::size_t i = 1; i < workers_.size(); ++i)
                helpers.emplace_back([this, i] { help_until_done(*workers_[i]); });
            outcome = search(*workers_[0]);
        } catch (...) {
            fail();
        }
        std::lock_guard lock(sharing_mutex_);
        done_ = true;
    }
    if (failure_) std::rethrow_exception(failure_);
    return outcome;
}

// Keeps the exception that is being handled, for `run`, and ends the search of all threads as a stop would: nodes are
// left in order, because other threads may be inside them.
template <class Entry>
void BestFirst<Entry>::fail() {
    std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
    failed_.store(true, std::memory_order_relaxed);
}

template <class Entry>
void BestFirst<Entry>::share(Node& node) {
    std::lock_guard lock(sharing_mutex_);
    shared_.push_back(&node);
}

// Ends the owner's work: waits for the helpers, helping below meanwhile, and takes the node off the list.
template <class Entry>
void BestFirst<Entry>::withdraw(Worker& worker, Node& node) {
    for (;;) {
        {
            std::unique_lock lock(node.mutex);
            if (node.in_flight.empty()) break;
        }
        if (Node* const below = node_to_help(&node)) {
            work(worker, *below);
            leave(*below);
        } else {
            std::unique_lock lock(node.mutex);
            node.changed.wait_for(lock, std::chrono::microseconds(200), [&] { return node.in_flight.empty(); });
        }
        work(worker, node);
    }
    {
        std::lock_guard lock(sharing_mutex_);
        std::erase(shared_, &node);
    }
    std::unique_lock lock(node.mutex);
    node.changed.wait(lock, [&] { return node.helpers == 0; });
}

// The open node nearest the root that has a task to give, among those below `below` if that is given.
template <class Entry>
typename BestFirst<Entry>::Node* BestFirst<Entry>::node_to_help(const Node* below) {
    if (stopping()) return nullptr;
    std::lock_guard lock(sharing_mutex_);
    Node* chosen = nullptr;
    for (Node* node : shared_) {
        if (chosen != nullptr && node->depth <= chosen->depth) continue;
        if (below != nullptr) {
            const Node* up = node->parent;
            while (up != nullptr && up != below) up = up->parent;
            if (up == nullptr) continue;
        }
        std::lock_guard node_lock(node->mutex);
        if (node->queue.empty() || node->queue.front().bound >= node->limit() || handing_back(*node)) continue;
        chosen = node;
    }
    if (chosen != nullptr) {
        std::lock_guard node_lock(chosen->mutex);
        ++chosen->helpers;
    }
    return chosen;
}

template <class Entry>
void BestFirst<Entry>::leave(Node& node) {
    std::lock_guard lock(node.mutex);
    --node.helpers;
    node.changed.notify_all();
}

template <class Entry>
void BestFirst<Entry>::help_until_done(Worker& worker) {
    for (;;) {
        if (Node* const node = node_to_help(nullptr)) {
            work(worker, *node);
            leave(*node);
            continue;
        }
        {
            std::lock_guard lock(sharing_mutex_);
            if (done_) return;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

#define CONTREE_THREADS(Entry)                                       \
    template Outcome BestFirst<Entry>::run();                        \
    template void BestFirst<Entry>::fail();                          \
    template void BestFirst<Entry>::share(Node&);                    \
    template void BestFirst<Entry>::withdraw(Worker&, Node&);        \
    template void BestFirst<Entry>::leave(Node&);                    \
    template void BestFirst<Entry>::help_until_done(Worker&);        \
    template typename BestFirst<Entry>::Node* BestFirst<Entry>::node_to_help(const Node*);
CONTREE_THREADS(NarrowEntry)
CONTREE_THREADS(WideEntry)
#undef CONTREE_THREADS

}  // namespace contree
