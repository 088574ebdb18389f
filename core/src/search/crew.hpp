// Threads that help each other with open jobs.
//
// Several threads can work on a job, below a parent or alone.  Idle threads join the open job nearest the
// root that has a task; an owner whose helpers are still busy helps below.  The first exception of any thread
// ends the work of all, as a stop would, and `run` throws it.
#pragma once
#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <vector>
#include "data/joining_thread.hpp"
#include "search/worker.hpp"

namespace contree {
class Crew {
public:
    class Job {
    public:
        Job(std::int64_t depth, const Job* parent) : depth_(depth), parent_(parent) {}
        virtual ~Job() = default;
        virtual void work(Worker& worker) = 0;  // until no task is left
        virtual bool has_task() = 0;
        virtual bool busy() = 0;             // is any thread at a task?
        virtual void wait_for_change() = 0;  // not for long
    private:
        friend class Crew;
        const std::int64_t depth_;
        const Job* const parent_;
        unsigned helpers_ = 0;  // threads inside, besides the owner
    };

    // The first worker is the caller's own.
    Crew(std::vector<std::unique_ptr<Worker>> workers, StopFlags& flags)
        : workers_(std::move(workers)), flags_(flags) {}

    // Runs `main` with the first worker in this thread, while others help; throws what any of them threw.
    // False where memory has run out: then the work of all has ended.
    bool run(const std::function<void(Worker&)>& main) {
        {
            std::vector<JoiningThread> helpers;
            try {
                start(helpers);
                main(*workers_[0]);
            } catch (...) {
                fail();
            }
            std::lock_guard lock(mutex_);
            done_ = true;
        }
        if (failure_) std::rethrow_exception(failure_);
        return !out_of_memory_;
    }
    // Threads that the system did not start.
    std::size_t missing() const { return missing_; }
    // After a run: gives the memory of all workers back.
    void release() { workers_.clear(); }

    bool is_shared() const { return workers_.size() > 1; }
    std::size_t size() const { return workers_.size(); }
    // Does the job in the calling thread, and lets others help until it is done.
    void work_together(Worker& worker, Job& job) {
        {
            std::lock_guard lock(mutex_);
            open_.push_back(&job);
        }
        for (job.work(worker); job.busy(); job.work(worker))
            if (!help(worker, &job)) job.wait_for_change();
        const auto is_left = [&] {  // no helper can come any more; those who are leaving do so at once
            std::lock_guard lock(mutex_);
            std::erase(open_, &job);
            return job.helpers_ == 0;
        };
        while (!is_left()) std::this_thread::yield();
    }
    // Keeps the exception that is being handled.  Without memory there is still what was found before.
    void fail() {
        std::lock_guard lock(mutex_);
        try {
            throw;
        } catch (const std::bad_alloc&) {
            out_of_memory_ = true;
        } catch (...) {
            if (!failure_) failure_ = std::current_exception();
        }
        flags_.failed.store(true, std::memory_order_relaxed);
    }

    bool is_first(const Worker& worker) const { return &worker == workers_[0].get(); }
    Statistics statistics() const {
        Statistics sum;
        for (const auto& worker : workers_) {
            sum.add(worker->statistics);
            sum.arena_bytes += static_cast<std::int64_t>(worker->arena.bytes());
        }
        return sum;
    }
private:
    void start(std::vector<JoiningThread>& helpers) {
        helpers.reserve(workers_.size());
        try {
            while (helpers.size() + 1 < workers_.size())
                helpers.emplace_back([this, i = helpers.size() + 1] { help_until_done(*workers_[i]); });
        } catch (const std::system_error&) {
            missing_ = workers_.size() - 1 - helpers.size();
        }
    }
    // Works on the open job nearest the root that has a task, among those below `below` if that is given.
    bool help(Worker& worker, const Job* below) {
        if (flags_.stopping()) return false;
        const auto is_below = [&](const Job* job) {
            while (job != nullptr && job != below) job = job->parent_;
            return job == below;
        };
        Job* chosen = nullptr;
        {
            std::lock_guard lock(mutex_);
            for (Job* const job : open_) {
                if (chosen != nullptr && job->depth_ <= chosen->depth_) continue;
                if (is_below(job->parent_) && job->has_task()) chosen = job;
            }
            if (chosen == nullptr) return false;
            ++chosen->helpers_;
        }
        chosen->work(worker);
        std::lock_guard lock(mutex_);
        --chosen->helpers_;
        return true;
    }
    void help_until_done(Worker& worker) {
        const auto is_done = [&] {
            std::lock_guard lock(mutex_);
            return done_;
        };
        while (!is_done())
            if (!help(worker, nullptr)) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }

    std::vector<std::unique_ptr<Worker>> workers_;
    StopFlags& flags_;
    std::mutex mutex_;
    std::vector<Job*> open_;
    bool done_ = false;
    std::exception_ptr failure_;
    bool out_of_memory_ = false;
    std::size_t missing_ = 0;
};
}  // namespace contree
