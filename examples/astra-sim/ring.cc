// A ring all-reduce over the back end: a small system layer that knows only ASTRA-sim's network interface.
//
//     ring SCENARIO RANKS BYTES [FOLDER]
//
// Each rank sends a block of BYTES / RANKS to the next rank in 2 (RANKS - 1) phases; a phase begins when the block of the phase
// before it is there. The end of the last rank is printed, in ps.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include "XoffNetwork.hh"

namespace {

class Rank {
  public:
    Rank(int number, int ranks, uint64_t block, AstraSim::AstraNetworkAPI& network)
        : number_(number), ranks_(ranks), block_(block), network_(network) {}

    void begin() {
        const int before = (number_ + ranks_ - 1) % ranks_;
        const int after = (number_ + 1) % ranks_;
        AstraSim::sim_request request = {};
        request.reqCount = block_;
        request.srcRank = static_cast<uint32_t>(before);
        request.dstRank = static_cast<uint32_t>(number_);
        network_.sim_recv(nullptr, block_, AstraSim::UINT8, before, phase_, &request, &Rank::received, this);
        request.srcRank = static_cast<uint32_t>(number_);
        request.dstRank = static_cast<uint32_t>(after);
        network_.sim_send(nullptr, block_, AstraSim::UINT8, after, phase_, &request, &Rank::sent, this);
    }

    static void start(void* rank) { static_cast<Rank*>(rank)->begin(); }

    int acknowledged() const { return acknowledged_; }

  private:
    static void received(void* rank) { static_cast<Rank*>(rank)->next(); }
    static void sent(void* rank) { static_cast<Rank*>(rank)->acknowledged_++; }

    void next() {
        phase_++;
        if (phase_ < 2 * (ranks_ - 1)) {
            begin();
        } else {
            network_.sim_notify_finished();
        }
    }

    int number_;
    int ranks_;
    uint64_t block_;
    AstraSim::AstraNetworkAPI& network_;
    int phase_ = 0;
    int acknowledged_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 4 && count != 5) {
        std::fprintf(stderr, "usage: %s SCENARIO RANKS BYTES [FOLDER]\n", arguments[0]);
        return 2;
    }
    try {
        const int ranks = std::atoi(arguments[2]);
        const uint64_t bytes = std::strtoull(arguments[3], nullptr, 10);
        if (ranks < 2 || bytes < static_cast<uint64_t>(ranks)) {
            throw std::runtime_error("expected at least 2 ranks, and a byte for each of them");
        }
        XoffFabric fabric(arguments[1]);
        std::vector<std::unique_ptr<XoffNetwork>> networks;
        std::vector<std::unique_ptr<Rank>> all;
        for (int rank = 0; rank < ranks; rank++) {
            networks.emplace_back(new XoffNetwork(rank, fabric));
            all.emplace_back(new Rank(rank, ranks, bytes / static_cast<uint64_t>(ranks), *networks.back()));
        }
        // As a system layer does, the ranks begin by a call of their own.
        for (auto& rank : all) {
            AstraSim::timespec_t at_once = {AstraSim::NS, 0};
            networks[0]->sim_schedule(at_once, &Rank::start, rank.get());
        }
        fabric.run();
        for (auto& rank : all) {
            if (rank->acknowledged() != 2 * (ranks - 1)) {
                throw std::runtime_error("a rank has sent blocks that were not acknowledged");
            }
        }
        std::printf("ranks finished: %u\n", fabric.finished());
        std::printf("end: %llu ps\n", static_cast<unsigned long long>(fabric.finished_at_ps()));
        std::printf("now: %.3Lf ns\n", networks[0]->sim_get_time().time_val);
        std::printf("bandwidth: %.1f GB/s\n", networks[0]->get_BW_at_dimension(0));
        fabric.close(count == 5 ? arguments[4] : "");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
