// A process that dials ADDRESS as peer ID, says one word, and stays until it is killed or its parent ends.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "node/transport/transport.h"

namespace {

struct SilentSink : convoy::TransportSink {
  void received(convoy::PeerId, convoy::WireFrames) override {}
  void peer_back(convoy::PeerId) override {}
  void peer_lost(convoy::PeerId) override {}
  void trouble(const convoy::Trouble& trouble) override {
    std::fprintf(stderr, "%s\n", trouble.text.c_str());
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  SilentSink sink;
  convoy::TransportOptions options;
  options.self = convoy::PeerId(std::strtoull(argv[2], nullptr, 10));
  options.failure_timeout = std::chrono::seconds(1);
  const auto transport = convoy::Transport::start(options, sink);
  if (!transport.ok() || !(*transport)->connect(convoy::kMasterPeer, argv[1]).ok()) return 1;
  const std::string word = "here";
  (*transport)->send(convoy::kMasterPeer, {convoy::Frame::copy_of(std::as_bytes(std::span(word)))});
  for (;;) pause();
}
