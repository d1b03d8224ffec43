// xoff as a network back end of ASTRA-sim, on top of xoff's C interface.
//
// One XoffFabric holds the session; each rank has an XoffNetwork. Ranks are hosts: rank r is host r of the scenario's topology,
// unless the fabric is given another list. Messages of one pair of hosts share a connection, as queue pairs do, unless the options
// say otherwise. After all ranks have begun their work, XoffFabric::run() lets simulated time pass and calls back.

#ifndef XOFF_NETWORK_HH
#define XOFF_NETWORK_HH

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <xoff.h>

#ifdef XOFF_ASTRA_HEADER
#include XOFF_ASTRA_HEADER
#else
#include "astra-sim/common/AstraNetworkAPI.hh"
#endif

/// A function to be called with one pointer.
struct XoffCall {
    void (*function)(void*) = nullptr;
    void* argument = nullptr;
};

/// The network that all ranks share. Every function throws std::runtime_error, with xoff's message, if xoff refuses a call.
class XoffFabric {
  public:
    /// Opens a session of the scenario file. `hosts` gives the host of each rank by name; if it is empty, rank r is host r.
    explicit XoffFabric(const std::string& scenario, const XoffOptions& options = xoff_options(),
                        const std::vector<std::string>& hosts = {});
    ~XoffFabric();
    XoffFabric(const XoffFabric&) = delete;
    XoffFabric& operator=(const XoffFabric&) = delete;

    /// Lets simulated time pass, and calls back, until nothing is left that could happen.
    void run();
    /// Closes the session, and writes result tables and manifest into `folder`; an empty name for none.
    void close(const std::string& folder);

    void send(int src, int dst, uint64_t bytes, int tag, XoffCall call);
    void recv(int src, int dst, uint64_t bytes, int tag, XoffCall call);
    void schedule(uint64_t delay_ps, XoffCall call);
    void finish(int rank);

    uint64_t now_ps() const;
    /// The rate of a rank's links, in bit/s.
    uint64_t bps(int rank) const;
    /// Ranks that have finished.
    unsigned finished() const { return finished_; }
    /// When the last rank finished, in ps.
    uint64_t finished_at_ps() const { return finished_at_ps_; }

  private:
    struct Receive {
        uint64_t bytes;
        XoffCall call;
    };

    void check(int32_t status) const;
    uint32_t host(int rank) const;
    void handle(const XoffEvent& event);

    XoffSession* session_ = nullptr;
    std::vector<uint32_t> hosts_;
    std::unordered_map<uint64_t, XoffCall> sends_;
    std::unordered_map<uint64_t, Receive> receives_;
    std::unordered_map<uint64_t, XoffCall> timers_;
    uint64_t next_timer_ = 0;
    unsigned finished_ = 0;
    uint64_t finished_at_ps_ = 0;
};

/// The network as one rank sees it.
class XoffNetwork : public AstraSim::AstraNetworkAPI {
  public:
    XoffNetwork(int rank, XoffFabric& fabric) : AstraSim::AstraNetworkAPI(rank), fabric_(fabric) {}

    int sim_send(void* buffer, uint64_t count, int type, int dst, int tag, AstraSim::sim_request* request,
                 void (*msg_handler)(void* fun_arg), void* fun_arg) override;
    int sim_recv(void* buffer, uint64_t count, int type, int src, int tag, AstraSim::sim_request* request,
                 void (*msg_handler)(void* fun_arg), void* fun_arg) override;
    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void* fun_arg), void* fun_arg) override;
    AstraSim::timespec_t sim_get_time() override;
    double get_BW_at_dimension(int dim) override;
    void sim_notify_finished() override;

  private:
    XoffFabric& fabric_;
};

#endif
