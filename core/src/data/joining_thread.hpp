// A thread that is joined when its owner leaves, as std::jthread; libc++ has that only since version 20.
#pragma once
#include <thread>

namespace contree {
class JoiningThread : public std::thread {
public:
    using std::thread::thread;
    JoiningThread(JoiningThread&&) = default;
    JoiningThread& operator=(JoiningThread&&) = default;
    ~JoiningThread() {
        if (joinable()) join();
    }
};
}  // namespace contree
