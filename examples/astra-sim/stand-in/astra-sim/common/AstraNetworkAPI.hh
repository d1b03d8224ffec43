// A stand-in for ASTRA-sim's network interface, to compile and test the back end without ASTRA-sim. It is written from a description
// of that interface: the calls that a back end answers, and the records that they pass. None of ASTRA-sim's code is in it.
//
// To build with the real interface, name ASTRA-sim's folder (see ../../../README.md); this file is then not used.

#ifndef XOFF_STAND_IN_ASTRA_NETWORK_API_HH
#define XOFF_STAND_IN_ASTRA_NETWORK_API_HH

#include <cstdint>

namespace AstraSim {

/// Units of time.
enum time_type_e { SE = 0, MS, US, NS, FS };

/// A time: a value and its unit.
struct timespec_t {
    time_type_e time_res;
    long double time_val;
};

/// Types of data.
enum req_type_e { UINT8 = 0, BFLOAT16, FP32 };

/// What a send or a receive is about.
struct sim_request {
    uint32_t srcRank;
    uint32_t dstRank;
    uint32_t tag;
    req_type_e reqType;
    uint64_t reqCount;
    uint32_t vnet;
    uint32_t layerNum;
};

/// The network as a rank sees it: one object for each rank.
class AstraNetworkAPI {
  public:
    explicit AstraNetworkAPI(int rank) : rank(rank) {}
    virtual ~AstraNetworkAPI() = default;

    /// Sends `count` bytes to `dst`; calls `msg_handler` with `fun_arg` when the send is complete.
    virtual int sim_send(void* buffer, uint64_t count, int type, int dst, int tag, sim_request* request,
                         void (*msg_handler)(void* fun_arg), void* fun_arg) = 0;

    /// Receives `count` bytes from `src`; calls `msg_handler` with `fun_arg` when they are there.
    virtual int sim_recv(void* buffer, uint64_t count, int type, int src, int tag, sim_request* request,
                         void (*msg_handler)(void* fun_arg), void* fun_arg) = 0;

    /// Calls `fun_ptr` with `fun_arg` after a time.
    virtual void sim_schedule(timespec_t delta, void (*fun_ptr)(void* fun_arg), void* fun_arg) = 0;

    /// The current time.
    virtual timespec_t sim_get_time() = 0;

    /// The bandwidth of a rank in a dimension of the network, in GB/s; negative if it is not known.
    virtual double get_BW_at_dimension(int dim) {
        (void)dim;
        return -1;
    }

    /// The rank has finished its work.
    virtual void sim_notify_finished() {}

    virtual int sim_comm_get_rank() { return rank; }
    virtual int sim_comm_set_rank(int number) { return rank = number; }

  protected:
    int rank;
};

}  // namespace AstraSim

#endif
