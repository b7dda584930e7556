#include "actors/parameter_server.h"
#include "node/process/addresses.h"
#include "node/process/build_id.h"
#include "node/process/slave_base.h"
#include "node/process/slaves.h"
#include "node/run/server_executor.h"

namespace convoy {
namespace {

class ServerProcess final : public SlaveBase {
 public:
  ServerProcess(const ServerProcessOptions& options, Ending& ending, NodeClock clock)
      : SlaveBase(options.slave, ending, clock), where_(options) {}

  Result<void> start(ActorHouse& house) {
    const Result<std::string> host = bind_host();
    if (!host) return host.error();
    const PeerId peer = random_peer_id();
    TransportOptions transport;
    transport.self = peer;
    transport.bind = config::to_string(config::Address{*host, where_.port});
    transport.encrypt_bind = options_.keys.has_value() && !options_.master_key.empty();
    const bool encrypted = transport.encrypt_bind;
    if (Result<void> started = start_link(std::move(transport)); !started) return started.error();
    work_.set(house.spawn_executor());
    ParameterServerOptions role;
    role.self = peer;
    role.name = options_.name;
    role.host = host_name();
    role.address = advertised(link_->transport().bound_address());
    if (encrypted) role.public_key = options_.keys->public_key.text();
    role.build_id = build_id();
    const std::string& bound = link_->transport().bound_address();
    const std::string told = role.address == bound ? "" : ", and is dialled at " + role.address;
    spdlog::info("{}: P-slave listens on {}{}", options_.name, bound, told);
    role_.set(house.spawn_role(std::make_shared<ParameterServer>(std::move(role)), *this, clock_));
    return dial();
  }

  void carry_out(Effect effect) override {
    if (carry_out_common(effect)) return;
    if (const auto* prepared = std::get_if<Prepared>(&effect)) {
      prepare(*prepared);
    } else if (const auto* keys = std::get_if<AllowKeys>(&effect)) {
      allow(*keys);
    } else if (const auto* init = std::get_if<InitialiseChunks>(&effect)) {
      run_on(work_, [this, command = *init] { executor_->initialise(command); });
    } else if (const auto* apply = std::get_if<Apply>(&effect)) {
      run_on(work_, [this, command = *apply] { executor_->apply(command); });
    } else if (const auto* install = std::get_if<InstallChunks>(&effect)) {
      run_on(work_, [this, command = *install] { executor_->install(command); });
    } else if (const auto* keep = std::get_if<KeepChunks>(&effect)) {
      run_on(work_, [this, command = *keep] {
        if (executor_) executor_->keep(command);
      });
    } else if (const auto* snapshot = std::get_if<TakeSnapshot>(&effect)) {
      run_on(work_, [this, command = *snapshot] { executor_->take_snapshot(command); });
    } else if (const auto* chunks = std::get_if<SendChunks>(&effect)) {
      run_on(work_, [this, command = *chunks]() mutable { send_chunks(command); });
    }
  }

 private:
  // Where it listens. What it advertises may be an address of this machine, one of several; or, behind NAT,
  // that of another, which hands connections on to the one that leads to the Master.
  Result<std::string> bind_host() const {
    if (!where_.advertise.empty() && is_address_here(where_.advertise)) {
      if (!requires_encryption(config::to_string({where_.advertise, where_.port})) &&
          !is_over_loopback(options_.master)) {
        return Error{ErrorCode::kUsage, "node.advertise: " + where_.advertise +
                                            " is a loopback address, which W-slaves on other machines cannot "
                                            "dial; give this machine's address as they see it"};
      }
      return where_.advertise;
    }
    return local_address_towards(options_.master);
  }

  // "host:port" that W-slaves dial.
  std::string advertised(const std::string& bound) const {
    if (where_.advertise.empty() || is_address_here(where_.advertise)) return bound;
    return config::to_string(
        {where_.advertise, static_cast<std::uint16_t>(std::stoi(bound.substr(bound.rfind(':') + 1)))});
  }

  void prepare(const Prepared& command) {
    Result<RunSetup> setup = parse_setup(command.run_text);
    if (!setup) return fail(setup.error());
    learn_setup(*setup);
    run_on(work_, [this, setup = std::move(*setup), sync = command.sync] {
      executor_ = std::make_unique<ServerExecutor>(setup, sync);
    });
  }

  void allow(const AllowKeys& command) {
    std::vector<PublicKey> allowed;
    for (const std::string& text : command.keys) {
      Result<PublicKey> key = PublicKey::parse(text);
      if (!key) return fail(key.error());
      allowed.push_back(*key);
    }
    link_->transport().allow(std::move(allowed));
  }

  void send_chunks(SendChunks command) {
    executor_->fill(command);
    link_->send(command.to, command.envelope);
  }

  ServerProcessOptions where_;
  std::unique_ptr<ServerExecutor> executor_;  // of the work thread
};

}  // namespace

Result<std::unique_ptr<RunningRole>> start_server(const ServerProcessOptions& options, ActorHouse& house,
                                                  Ending& ending, NodeClock clock) {
  auto process = std::make_unique<ServerProcess>(options, ending, clock);
  if (Result<void> started = process->start(house); !started) {
    process->stop();
    return started.error();
  }
  return std::unique_ptr<RunningRole>(std::move(process));
}

}  // namespace convoy
