#include "XoffNetwork.hh"

#include <stdexcept>

namespace {

/// Picoseconds in a unit of time.
long double ps_of(AstraSim::time_type_e unit) {
    switch (unit) {
        case AstraSim::SE:
            return 1e12L;
        case AstraSim::MS:
            return 1e9L;
        case AstraSim::US:
            return 1e6L;
        case AstraSim::NS:
            return 1e3L;
        default:
            return 1e-3L;
    }
}

std::string message_of(const XoffSession* session) {
    std::string text(xoff_last_error(session, nullptr, 0) + 1, '\0');
    xoff_last_error(session, &text[0], text.size());
    text.pop_back();
    return text.empty() ? "a call of xoff failed" : text;
}

}  // namespace

XoffFabric::XoffFabric(const std::string& scenario, const XoffOptions& options,
                       const std::vector<std::string>& hosts) {
    try {
        check(xoff_session_open(scenario.c_str(), &options, &session_));
        for (const std::string& name : hosts) {
            uint32_t number = 0;
            check(xoff_session_host(session_, name.c_str(), &number));
            hosts_.push_back(number);
        }
    } catch (...) {
        xoff_session_free(session_);
        throw;
    }
}

XoffFabric::~XoffFabric() { xoff_session_free(session_); }

void XoffFabric::check(int32_t status) const {
    if (status != XOFF_OK) {
        throw std::runtime_error("xoff: " + message_of(session_));
    }
}

uint32_t XoffFabric::host(int rank) const {
    if (rank < 0 || (!hosts_.empty() && static_cast<size_t>(rank) >= hosts_.size())) {
        throw std::runtime_error("xoff: rank " + std::to_string(rank) + " has no host: expected a rank from 0 on, below " +
                                 std::to_string(hosts_.size()));
    }
    return hosts_.empty() ? static_cast<uint32_t>(rank) : hosts_[static_cast<size_t>(rank)];
}

void XoffFabric::run() {
    for (;;) {
        const XoffEvent* events = nullptr;
        size_t count = 0;
        check(xoff_session_advance_to_next(session_, XOFF_NO_LIMIT, &events, &count));
        if (count == 0) {
            break;
        }
        // The calls back may post more, but only an advance changes the events.
        for (size_t i = 0; i < count; i++) {
            handle(events[i]);
        }
    }
    if (!receives_.empty()) {
        throw std::runtime_error("xoff: nothing is left that could happen, and " + std::to_string(receives_.size()) +
                                 " receives wait for messages that nobody has sent");
    }
}

void XoffFabric::handle(const XoffEvent& event) {
    XoffCall call;
    if (event.kind == XOFF_EVENT_SENT) {
        auto found = sends_.find(event.message);
        call = found->second;
        sends_.erase(found);
    } else if (event.kind == XOFF_EVENT_RECEIVED) {
        auto found = receives_.find(event.id);
        if (found->second.bytes != event.bytes) {
            throw std::runtime_error("xoff: a message of " + std::to_string(event.bytes) + " B meets a receive of " +
                                     std::to_string(found->second.bytes) + " B: expected the same size at both ends");
        }
        call = found->second.call;
        receives_.erase(found);
    } else if (event.kind == XOFF_EVENT_TIMER) {
        auto found = timers_.find(event.id);
        call = found->second;
        timers_.erase(found);
    }
    if (call.function != nullptr) {
        call.function(call.argument);
    }
}

void XoffFabric::close(const std::string& folder) {
    check(xoff_session_close(session_, folder.empty() ? nullptr : folder.c_str()));
}

void XoffFabric::send(int src, int dst, uint64_t bytes, int tag, XoffCall call) {
    XoffMessage message = xoff_message(host(src), host(dst), bytes);
    message.tag = static_cast<uint32_t>(tag);
    uint64_t number = 0;
    check(xoff_session_send(session_, &message, &number));
    sends_[number] = call;
}

void XoffFabric::recv(int src, int dst, uint64_t bytes, int tag, XoffCall call) {
    uint64_t number = 0;
    check(xoff_session_recv(session_, host(src), host(dst), static_cast<uint32_t>(tag), &number));
    receives_[number] = Receive{bytes, call};
}

void XoffFabric::schedule(uint64_t delay_ps, XoffCall call) {
    check(xoff_session_schedule(session_, now_ps() + delay_ps, next_timer_));
    timers_[next_timer_++] = call;
}

void XoffFabric::finish(int rank) {
    (void)rank;
    finished_++;
    finished_at_ps_ = now_ps();
}

uint64_t XoffFabric::now_ps() const {
    uint64_t ps = 0;
    check(xoff_session_now(session_, &ps));
    return ps;
}

uint64_t XoffFabric::bps(int rank) const {
    uint64_t bps = 0;
    check(xoff_session_host_bps(session_, host(rank), &bps));
    return bps;
}

int XoffNetwork::sim_send(void*, uint64_t count, int, int dst, int tag, AstraSim::sim_request*,
                          void (*msg_handler)(void* fun_arg), void* fun_arg) {
    fabric_.send(sim_comm_get_rank(), dst, count, tag, XoffCall{msg_handler, fun_arg});
    return 0;
}

int XoffNetwork::sim_recv(void*, uint64_t count, int, int src, int tag, AstraSim::sim_request*,
                          void (*msg_handler)(void* fun_arg), void* fun_arg) {
    fabric_.recv(src, sim_comm_get_rank(), count, tag, XoffCall{msg_handler, fun_arg});
    return 0;
}

void XoffNetwork::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void* fun_arg), void* fun_arg) {
    const long double ps = delta.time_val * ps_of(delta.time_res);
    if (!(ps >= 0) || ps >= 1e18L) {
        throw std::runtime_error("xoff: a call is scheduled after less than nothing, or after more than 11 days");
    }
    fabric_.schedule(static_cast<uint64_t>(ps + 0.5L), XoffCall{fun_ptr, fun_arg});
}

AstraSim::timespec_t XoffNetwork::sim_get_time() {
    AstraSim::timespec_t time;
    time.time_res = AstraSim::NS;
    time.time_val = static_cast<long double>(fabric_.now_ps()) / 1e3L;
    return time;
}

double XoffNetwork::get_BW_at_dimension(int dim) {
    // The network is one dimension: its paths are the topology's matter.
    return dim == 0 ? static_cast<double>(fabric_.bps(sim_comm_get_rank())) / 8e9 : -1;
}

void XoffNetwork::sim_notify_finished() { fabric_.finish(sim_comm_get_rank()); }
