#include "node/cli/master_line.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "actors/role.h"
#include "config/node_file.h"
#include "node/process/security.h"
#include "node/process/watch_file.h"
#include "node/record/run_dir.h"

namespace convoy::cli {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);
constexpr Duration kAskAgain = std::chrono::seconds(1);

// The newest run below runs/ that has a Master, as it wrote it.
std::optional<WatchAddress> newest_address() {
  std::optional<WatchAddress> address;
  std::filesystem::file_time_type newest{};
  std::error_code ignored;
  for (const auto& run : std::filesystem::directory_iterator("runs", ignored)) {
    const std::filesystem::path path = run.path() / "address";
    const auto written = std::filesystem::last_write_time(path, ignored);
    if (ignored || (address && written <= newest)) continue;
    if (auto found = read_watch_file(path.string())) {
      address = std::move(found);
      newest = written;
    }
  }
  return address;
}

MasterPlace place_of(WatchAddress found) {
  return {std::move(found.address), std::move(found.master_key), std::move(found.keys)};
}

}  // namespace

Result<MasterPlace> find_master(const std::string& where) {
  if (where.ends_with(".toml")) {
    Result<config::NodeOptions> node = config::read_node_file(where);
    if (!node) return node.error();
    Result<NodeSecurity> security = node_security(*node);
    if (!security) return security.error();
    return MasterPlace{config::to_string(node->master), security->master_key, security->keys};
  }
  if (where.empty()) {
    if (auto found = newest_address()) return place_of(std::move(*found));
    return Error{
        ErrorCode::kUsage,
        "No run below runs/ has a Master that this user may ask now; give its address, or a node file."};
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(where, ignored)) return MasterPlace{where, "", std::nullopt};
  if (auto found = read_watch_file(record::RunPaths{where}.address())) return place_of(std::move(*found));
  return Error{ErrorCode::kUsage, where + " has no Master that runs and that this user may ask."};
}

Result<std::unique_ptr<MasterLine>> MasterLine::open(const MasterPlace& place) {
  std::unique_ptr<MasterLine> line(new MasterLine(place.address));
  line->arrived_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  TransportOptions transport;
  transport.self = line->self_;
  transport.keys = place.keys;
  Result<std::unique_ptr<Link>> link = Link::start(std::move(transport), RunId(0), *line);
  if (!link) return link.error();
  line->link_ = std::move(*link);
  if (Result<void> ok = line->link_->connect(kMasterPeerId, place.address, place.master_key); !ok)
    return ok.error();
  return line;
}

MasterLine::~MasterLine() {
  if (link_) link_->close();
  if (arrived_ >= 0) close(arrived_);
}

void MasterLine::send(Message message) {
  link_->send(kMasterPeerId, Envelope{{}, self_, {}, std::move(message)});
}

std::vector<Message> MasterLine::take() {
  eventfd_t count = 0;
  (void)eventfd_read(arrived_, &count);
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

Result<Message> MasterLine::ask(const Message& question) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::unique_lock lock(mutex_);
  while (messages_.empty() && trouble_.empty() && std::chrono::steady_clock::now() < deadline) {
    lock.unlock();
    send(question);
    lock.lock();
    changed_.wait_for(lock, kAskAgain, [&] { return !messages_.empty() || !trouble_.empty(); });
  }
  if (!messages_.empty()) {
    Message answer = std::move(messages_.front());
    if (const auto* refuse = std::get_if<Refuse>(&answer)) return Error{ErrorCode::kUsage, refuse->text};
    return answer;
  }
  return Error{ErrorCode::kIo,
               trouble_.empty() ? "The Master at " + address_ + " does not answer." : trouble_};
}

void MasterLine::received(Envelope envelope) {
  keep(std::move(envelope.message));
}

void MasterLine::trouble(const Trouble& trouble) {
  const bool needs_keys = trouble.kind == TroubleKind::kHandshake || trouble.kind == TroubleKind::kKeyRefused;
  refused(trouble.text + (needs_keys ? " `convoy status NODE.toml` uses that file." : ""));
}

void MasterLine::refused(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    trouble_ = text;
  }
  keep(std::nullopt);
}

void MasterLine::keep(std::optional<Message> message) {
  {
    const std::lock_guard lock(mutex_);
    if (message) messages_.push_back(std::move(*message));
  }
  changed_.notify_all();
  (void)eventfd_write(arrived_, 1);
}

}  // namespace convoy::cli
