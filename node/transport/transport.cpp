#include "node/transport/transport.h"

#include <malloc.h>
#include <pthread.h>

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "node/transport/io_loop.h"

namespace convoy {

void keep_memory_for_messages() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 2'000'000'000);
  mallopt(M_TOP_PAD, 64 << 20);
}

class Transport::Impl {
 public:
  Impl(TransportOptions options, TransportSink& sink)
      : loop(std::make_unique<IoLoop>(std::move(options), sink)) {}

  std::unique_ptr<IoLoop> loop;
  std::thread thread;
};

Transport::Transport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Transport::~Transport() {
  close();
}

Result<std::unique_ptr<Transport>> Transport::start(TransportOptions options, TransportSink& sink) {
  // Signals are for the program's own threads; libzmq starts threads as well.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  auto impl = std::make_unique<Impl>(std::move(options), sink);
  Result<void> listening = impl->loop->listen();
  if (listening) {
    try {
      impl->thread = std::thread([loop = impl->loop.get()] { loop->run(); });
    } catch (const std::system_error& error) {
      listening = Error{ErrorCode::kIo, std::string("cannot start a thread: ") + error.what()};
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!listening) return listening.error();
  return std::unique_ptr<Transport>(new Transport(std::move(impl)));
}

const std::string& Transport::bound_address() const {
  return impl_->loop->bound_address();
}

Sent Transport::send(PeerId to, WireFrames frames) {
  const Sent sent = impl_->loop->outbox().send(to, std::move(frames));
  impl_->loop->count_refused(sent);
  return sent;
}

Result<void> Transport::connect(PeerId peer, const std::string& address,
                                const std::optional<PublicKey>& server_key) {
  const Result<Endpoint> endpoint = parse_endpoint(address);
  if (!endpoint) return endpoint.error();
  if (endpoint->port == 0)
    return Error{ErrorCode::kUsage,
                 "cannot dial " + address + ": port 0 means any port, and is for listening"};
  if (server_key && !impl_->loop->options().keys)
    return Error{ErrorCode::kUsage, "dialling " + address + " with encryption needs a key pair of our own"};
  impl_->loop->outbox().connect({peer, *endpoint, server_key});
  return {};
}

void Transport::disconnect(PeerId peer) {
  impl_->loop->outbox().disconnect(peer);
}

void Transport::allow(std::vector<PublicKey> keys) {
  impl_->loop->outbox().allow(std::move(keys));
}

void Transport::inject(const LinkFault& fault) {
  CONVOY_CHECK(of_links(fault.kind), "a fault of processes, ", static_cast<int>(fault.kind));
  impl_->loop->outbox().inject(fault);
}

std::string Transport::address_of(PeerId peer) const {
  return impl_->loop->outbox().address_of(peer);
}

TransportCounters Transport::counters() const {
  return impl_->loop->counters();
}

void Transport::close() {
  if (!impl_->thread.joinable()) return;
  CONVOY_CHECK(impl_->thread.get_id() != std::this_thread::get_id(),
               "close() from a callback would wait for itself");
  impl_->loop->outbox().close();
  impl_->thread.join();
}

}  // namespace convoy
