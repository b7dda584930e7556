#include "actors/role.h"

#include <sstream>

namespace convoy {
namespace {

struct Describe {
  std::ostream& out;

  void operator()(const Send& e) const {
    out << "send to " << e.to << " in " << e.envelope.view << ": " << describe(e.envelope.message);
  }
  void operator()(const Connect& e) const { out << "connect " << e.peer << " at " << e.address; }
  void operator()(const Disconnect& e) const { out << "disconnect " << e.peer; }
  void operator()(const WakeAt& e) const { out << "wake at " << e.at; }
  void operator()(const WarmUp&) const { out << "warm up"; }
  void operator()(const Compute& e) const {
    out << "compute clock " << e.clock << " " << e.lease.id << " " << e.lease.positions;
  }
  void operator()(const Abandon& e) const { out << "abandon from clock " << e.from; }
  void operator()(const EvaluateSlice& e) const { out << "evaluate slice: " << describe(Message(e.task)); }
  void operator()(const Prepared&) const { out << "prepare for the run"; }
  void operator()(const AllowKeys& e) const { out << "allow " << e.keys.size() << " keys"; }
  void operator()(const InitialiseChunks& e) const { out << "initialise " << e.chunks.size() << " chunks"; }
  void operator()(const Apply& e) const {
    out << "apply clock " << e.clock << " of";
    for (const Contribution& c : e.contributions) out << " " << c.member << "(" << c.samples << ")";
    out << " over " << e.samples << " weight " << e.weight << " after " << e.samples_before;
  }
  void operator()(const SendChunks& e) const {
    out << "send chunks to " << e.to << " in " << e.envelope.view << ": " << describe(e.envelope.message);
  }
  void operator()(const InstallChunks& e) const { out << "install " << e.chunks.size() << " chunks"; }
  void operator()(const KeepChunks& e) const { out << "keep " << e.chunks.size() << " chunks"; }
  void operator()(const TakeSnapshot& e) const {
    out << "take " << e.snapshot << " of " << e.chunks.size() << " chunks";
  }
  void operator()(const Journal& e) const { out << "journal " << e.record.view; }
  void operator()(const SaveModel& e) const { out << "save model of clock " << e.clock; }
  void operator()(const Prefetch& e) const { out << "prefetch " << e.lease.id << " " << e.lease.positions; }
  void operator()(const Quit& e) const { out << (e.failed ? "quit, failed: " : "quit: ") << e.text; }
  void operator()(const Trace& e) const { std::visit(*this, e); }

  void operator()(const TraceGrant& t) const {
    out << "# granted " << t.shard << " " << t.member << " clock " << t.clock << " at c_min " << t.c_min;
  }
  void operator()(const TraceApply& t) const {
    out << "# applied " << t.shard << (t.owned ? " " : " (backup) ") << t.member << " clock " << t.clock
        << " " << t.trained;
  }
  void operator()(const TraceCut& t) const { out << "# cut " << t.record.view << " ledger " << t.ledger; }
  void operator()(const TraceActive& t) const { out << "# active " << t.record.view; }
  void operator()(const TraceNote& t) const { out << "# " << t.text; }
  void operator()(const TraceViolation& t) const { out << "# VIOLATION " << t.text; }
  void operator()(const TraceJoined& t) const { out << "# joined " << t.member << " " << t.name; }
  void operator()(const TraceLost& t) const { out << "# lost " << t.name << ": " << t.why; }
  void operator()(const TraceLog& t) const { out << "# log of " << t.server << " +" << t.entries.size(); }
  void operator()(const TraceEvaluation& t) const {
    out << "# evaluated " << t.snapshot << ": " << t.correct << "/" << t.count;
  }
  void operator()(const TraceTrained& t) const { out << "# trained " << t.ledger; }
};

}  // namespace

std::string describe(const Effect& effect) {
  std::ostringstream out;
  std::visit(Describe{out}, effect);
  return out.str();
}

}  // namespace convoy
