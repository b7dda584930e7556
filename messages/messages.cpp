#include "messages/messages.h"

#include <sstream>

namespace convoy {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string bytes_of(const std::vector<ChunkData>& chunks) {
  std::size_t bytes = 0;
  for (const ChunkData& c : chunks) bytes += c.bytes.size();
  return std::to_string(chunks.size()) + " chunks, " + std::to_string(bytes) + " B";
}

void put(std::ostream& out, const std::vector<Lease>& leases) {
  for (const Lease& l : leases) out << " [clock " << l.clock << " " << l.id << " " << l.positions << "]";
}

void put(std::ostream& out, const Push& m) {
  out << " " << m.shard << " clock " << m.clock << " " << m.lease << " trained " << m.trained << " ("
      << bytes_of(m.chunks) << ")";
}

void put(std::ostream& out, const Commit& m) {
  out << " " << m.shard << " committed " << m.committed;
}

void put(std::ostream& out, const ViewRecord& r) {
  out << r.view << " members";
  for (const MemberRecord& m : r.members) out << " " << m.key << "@" << m.n;
  if (!r.stand_by.empty()) out << " stand-by";
  for (const MemberRecord& m : r.stand_by) out << " " << m.key << "@" << m.n;
  out << " servers";
  for (const ServerRecord& s : r.servers) out << " " << s.id << s.incarnation;
}

}  // namespace

const char* name_of(const Message& message) {
  return std::visit(Overloaded{
                        [](const Hello&) { return "Hello"; },
                        [](const Welcome&) { return "Welcome"; },
                        [](const Join&) { return "Join"; },
                        [](const Leave&) { return "Leave"; },
                        [](const Farewell&) { return "Farewell"; },
                        [](const Refuse&) { return "Refuse"; },
                        [](const Stop&) { return "Stop"; },
                        [](const Heartbeat&) { return "Heartbeat"; },
                        [](const HeartbeatReply&) { return "HeartbeatReply"; },
                        [](const LeaseRequest&) { return "LeaseRequest"; },
                        [](const LeaseGrant&) { return "LeaseGrant"; },
                        [](const Pull&) { return "Pull"; },
                        [](const PullReply&) { return "PullReply"; },
                        [](const Push&) { return "Push"; },
                        [](const PushAck&) { return "PushAck"; },
                        [](const Commit&) { return "Commit"; },
                        [](const CommitAck&) { return "CommitAck"; },
                        [](const Prepare&) { return "Prepare"; },
                        [](const Report&) { return "Report"; },
                        [](const Cut&) { return "Cut"; },
                        [](const Done&) { return "Done"; },
                        [](const Go&) { return "Go"; },
                        [](const CommitLog&) { return "CommitLog"; },
                        [](const CommitLogAck&) { return "CommitLogAck"; },
                        [](const Evaluate&) { return "Evaluate"; },
                        [](const SnapshotPull&) { return "SnapshotPull"; },
                        [](const SnapshotReply&) { return "SnapshotReply"; },
                        [](const EvaluateResult&) { return "EvaluateResult"; },
                        [](const StatusRequest&) { return "StatusRequest"; },
                        [](const StatusReply&) { return "StatusReply"; },
                        [](const Replicate&) { return "Replicate"; },
                        [](const ReplicateAck&) { return "ReplicateAck"; },
                        [](const FetchChunks&) { return "FetchChunks"; },
                        [](const ChunkStates&) { return "ChunkStates"; },
                        [](const AllowedKeys&) { return "AllowedKeys"; },
                        [](const Inject&) { return "Inject"; },
                        [](const Injected&) { return "Injected"; },
                    },
                    message);
}

std::string describe(const Message& message) {
  std::ostringstream out;
  out << name_of(message);
  std::visit(
      Overloaded{
          [&](const Hello& m) { out << " " << m.name; },
          [&](const Welcome& m) { out << " id " << m.id << " " << m.incarnation; },
          [&](const Join& m) { out << " " << m.samples_per_s << " samples/s"; },
          [](const Leave&) {},
          [](const Farewell&) {},
          [&](const Refuse& m) { out << " " << m.text; },
          [&](const Stop& m) { out << (m.failed ? " failed " : " done ") << m.text; },
          [&](const Heartbeat& m) {
            out << " " << m.sequence << " committed " << m.committed;
            for (PeerId p : m.silent) out << " silent " << p;
          },
          [&](const HeartbeatReply& m) { out << " " << m.sequence; },
          [&](const LeaseRequest& m) {
            out << " next " << m.next << " committed " << m.committed << (m.idle ? " idle" : "");
          },
          [&](const LeaseGrant& m) { put(out, m.leases); },
          [&](const Pull& m) {
            out << " " << m.shard << " clock " << m.clock << " after " << m.after << " committed "
                << m.committed;
          },
          [&](const PullReply& m) {
            out << " " << m.shard << " clock " << m.clock << " committed " << m.committed << " c_min "
                << m.c_min;
          },
          [&](const Push& m) { put(out, m); },
          [&](const PushAck& m) { out << " " << m.shard << " clock " << m.clock << " " << m.lease; },
          [&](const Commit& m) { put(out, m); },
          [&](const CommitAck& m) { out << " " << m.shard << " committed " << m.committed; },
          [&](const Prepare& m) { out << " " << m.next << " base " << m.base; },
          [&](const Report& m) {
            out << " " << m.next;
            for (const ReportedMember& r : m.members) {
              out << " " << r.key << " committed " << r.committed << " granted below " << r.granted_end;
            }
            out << " ledger " << m.ledger;
            if (m.newer) out << " newer " << m.newer->view;
          },
          [&](const Cut& m) {
            out << " ";
            put(out, m.record);
            out << " at";
            for (const CutMember& c : m.members) out << " " << c.key << "=" << c.committed;
            if (m.snapshot) out << " " << *m.snapshot;
            for (const ChunkSource& s : m.sources) {
              out << " from " << s.server.id << s.server.incarnation << " " << s.chunks.size() << " chunks";
            }
          },
          [&](const Done& m) { out << " " << m.view; },
          [&](const Go& m) {
            out << " ";
            put(out, m.record);
            out << " leases";
            put(out, m.leases);
          },
          [&](const CommitLog& m) { out << " " << m.first << " +" << m.entries.size(); },
          [&](const CommitLogAck& m) { out << " next " << m.next; },
          [&](const Evaluate& m) {
            out << " " << m.snapshot << " task " << m.task << " [" << m.first << ", " << m.last << ")";
          },
          [&](const SnapshotPull& m) { out << " " << m.snapshot << " " << m.shard; },
          [&](const SnapshotReply& m) { out << " " << m.snapshot << " " << m.shard; },
          [&](const EvaluateResult& m) { out << " task " << m.task << " " << m.correct << "/" << m.count; },
          [](const StatusRequest&) {},
          [](const StatusReply&) {},
          [&](const Replicate& m) {
            out << " " << m.shard << " " << m.stream << " entry " << m.sequence << ":";
            std::visit(Overloaded{[&](const Push& push) {
                                    out << " " << m.member << " Push";
                                    put(out, push);
                                  },
                                  [&](const Commit& commit) {
                                    out << " " << m.member << " Commit";
                                    put(out, commit);
                                  },
                                  [&](const StreamEnd&) { out << " end"; }},
                       m.entry);
          },
          [&](const ReplicateAck& m) { out << " " << m.shard << " " << m.stream << " up to " << m.upto; },
          [&](const FetchChunks& m) { out << " " << m.next << " " << m.chunks.size() << " chunks"; },
          [&](const ChunkStates& m) { out << " " << m.next << " (" << bytes_of(m.chunks) << ")"; },
          [&](const AllowedKeys& m) {
            out << " " << (m.version >> 32) << "." << (m.version & 0xffffffff) << ", " << m.keys.size()
                << " keys";
          },
          [&](const Inject& m) {
            out << " " << m.target << (m.to.empty() ? "" : " to ") << m.to << (m.done ? " done" : "");
          },
          [&](const Injected& m) { out << " " << m.text; },
      },
      message);
  return out.str();
}

}  // namespace convoy
