#include "node/record/render.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "node/record/text.h"

namespace convoy::record {
namespace {

enum class Style { kPlain, kBold, kDim, kGood, kWarn, kBad, kAccent };

const char* code_of(Style style) {
  switch (style) {
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kWarn:
      return "\x1b[33m";
    case Style::kBad:
      return "\x1b[1;31m";
    case Style::kAccent:
      return "\x1b[36m";
    case Style::kPlain:
      break;
  }
  return "";
}

// One line that grows to the right and never beyond the width.
class Line {
 public:
  explicit Line(const RenderOptions& options) : options_(options) {}

  Line& add(std::string_view text, Style style = Style::kPlain) {
    const std::string_view shown = fitting(text, options_.width - columns_);
    if (shown.empty()) return *this;
    const bool styled = options_.colour && style != Style::kPlain;
    if (styled) text_ += code_of(style);
    text_ += shown;
    if (styled) text_ += "\x1b[0m";
    columns_ += columns_of(shown);
    return *this;
  }
  Line& to_column(int column) {
    return column > columns_ ? add(std::string(static_cast<std::size_t>(column - columns_), ' ')) : *this;
  }
  // The text so that it ends before `column`.
  Line& right(std::string_view text, int column, Style style = Style::kPlain) {
    to_column(column - columns_of(text));
    return add(text, style);
  }
  // Left out altogether when it does not fit.
  Line& add_if_fits(std::string_view text, Style style = Style::kPlain) {
    return columns_ + columns_of(text) <= options_.width ? add(text, style) : *this;
  }
  int columns() const { return columns_; }
  int room() const { return options_.width - columns_; }
  std::string take() { return std::move(text_); }

 private:
  const RenderOptions& options_;
  std::string text_;
  int columns_ = 0;
};

double epoch_of(std::int64_t samples, const MasterStatus& status) {
  return static_cast<double>(samples) / static_cast<double>(std::max<std::int64_t>(status.sample_count, 1));
}

std::string mode_text(const RunTitle& title) {
  if (title.mode == "bsp" || title.mode == "asp") return title.mode;
  return title.mode + (title.bound ? ", bound " + std::to_string(*title.bound) : ", no bound");
}

std::string view_text(View view) {
  std::ostringstream out;
  out << view;
  return out.str();
}

// What stands in a table's name columns: long names lose their end, marked.
std::string shortened(const std::string& text, int columns) {
  std::string shown = printable(text);
  if (columns_of(shown) <= columns) return shown;
  return std::string(fitting(shown, columns - 1)) + "~";
}

class Table {
 public:
  Table(const RunTitle& title, const MasterStatus& status, const RunMetrics& metrics, double waiting_s,
        const RenderOptions& options)
      : title_(title), status_(status), metrics_(metrics), waiting_s_(waiting_s), options_(options) {}

  std::vector<std::string> take() {
    heading();
    if (status_.started) {
      progress();
      figures();
    }
    awaited();
    nodes();
    const auto most = static_cast<std::size_t>(std::max(options_.height, 1));
    if (lines_.size() > most) lines_.resize(most);
    return std::move(lines_);
  }

 private:
  std::string dot() const { return options_.unicode ? " · " : " | "; }
  std::int64_t samples() const { return std::max(metrics_.samples, status_.samples); }
  void push(Line& line) { lines_.push_back(line.take()); }
  void gap_line() { lines_.emplace_back(); }

  void heading() {
    Line line(options_);
    line.add(" " + printable(title_.name), Style::kBold);
    line.add("  " + printable(title_.model) + " on " + printable(title_.data) + dot() + mode_text(title_) +
                 dot() + "batch " + grouped(title_.batch),
             Style::kDim);
    if (status_.started) {
      const std::string view = view_text(status_.view);
      if (line.room() > static_cast<int>(view.size()) + 2) line.right(view, options_.width - 1, Style::kDim);
    }
    push(line);
  }

  void progress() {
    const double share =
        status_.end > 0
            ? std::clamp(static_cast<double>(samples()) / static_cast<double>(status_.end), 0.0, 1.0)
            : 1.0;
    Line line(options_);
    line.add(" epoch ").add(fixed(epoch_of(samples(), status_), 2), Style::kBold);
    line.add(" of " + fixed(epoch_of(status_.end, status_), 2) + "  ");
    std::string tail = "  " + fixed(std::min(share * 100, samples() < status_.end ? 99.9 : 100.0), 0) + " %";
    if (samples() >= status_.end) {
      tail += "   " + duration_text(metrics_.elapsed_s);
    } else if (metrics_.remaining_s) {
      tail += "   " + duration_text(*metrics_.remaining_s) + " left";
    }
    const int bar = std::min(60, line.room() - columns_of(tail) - 1);
    if (bar >= 8) {
      const int full = static_cast<int>(share * bar + 1e-6);
      std::string done;
      std::string rest;
      for (int i = 0; i < bar; ++i)
        (i < full ? done : rest) += options_.unicode ? (i < full ? "━" : "─") : (i < full ? "#" : ".");
      line.add(done, Style::kGood).add(rest, Style::kDim);
    }
    line.add(tail);
    push(line);
  }

  void figures() {
    Line line(options_);
    const std::string gap = "   ";
    line.add(" clock ").add(grouped(std::max(metrics_.c_min, status_.c_min).value), Style::kBold);
    line.add(gap).add(grouped(std::llround(metrics_.samples_per_s)), Style::kBold).add(" samples/s");
    if (metrics_.loss) line.add(gap + "loss ").add(fixed(*metrics_.loss, 4), Style::kBold);
    if (metrics_.last_evaluation) {
      const RunMetrics::Evaluation& e = *metrics_.last_evaluation;
      const bool reached = title_.target_accuracy && e.accuracy >= *title_.target_accuracy;
      line.add(gap + "accuracy ").add(percent(e.accuracy, 2), reached ? Style::kGood : Style::kBold);
      line.add_if_fits(" at epoch " + fixed(e.epoch, 2), Style::kDim);
    }
    if (samples() < status_.end)
      line.add_if_fits(gap + duration_text(metrics_.elapsed_s) + " so far", Style::kDim);
    push(line);
    if (metrics_.violations > 0) {
      Line alarm(options_);
      alarm.add(" " + grouped(metrics_.violations) + " violations of the protocol: see log.txt", Style::kBad);
      push(alarm);
    }
  }

  void awaited() {
    for (std::size_t i = 0; i < status_.awaited.size(); ++i) {
      Line line(options_);
      line.add(i == 0 ? " waiting for " : "         and ", Style::kWarn).add(printable(status_.awaited[i]));
      if (i == 0 && waiting_s_ > 0) line.add(", for " + duration_text(waiting_s_) + " now");
      push(line);
    }
    if (!status_.awaited.empty() && !title_.address.empty()) {
      Line line(options_);
      line.add(" nodes reach this Master at ").add(printable(title_.address), Style::kAccent);
      push(line);
    }
  }

  void nodes() {
    // Each part has an empty line and a heading; P-slaves keep a few lines whatever the number of members.
    const std::size_t kept =
        status_.servers.empty() ? 0 : 2 + std::min<std::size_t>(status_.servers.size(), 3);
    if (!status_.members.empty() && room() > 2 + kept) members(room() - 2 - kept);
    if (!status_.servers.empty() && room() > 2) servers(room() - 2);
  }
  std::size_t room() const {
    const auto most = static_cast<std::size_t>(std::max(options_.height, 1));
    return most > lines_.size() ? most - lines_.size() : 0;
  }

  // Columns that do not fit are left out from the right.
  void members(std::size_t rows) {
    int name = 7;
    int device = 6;
    for (const MasterStatus::Member& m : status_.members) {
      name = std::max(name, columns_of(printable(m.name)));
      device = std::max(device, columns_of(printable(m.host + "/" + m.device)));
    }
    name = std::min(name, std::max(10, options_.width / 4));
    device = std::min(device, std::max(10, options_.width / 3));
    const int device_at = 1 + name + 2;
    const int first = device_at + device;
    gap_line();
    Line head(options_);
    head.add(" W-slave", Style::kDim).to_column(device_at).add("device", Style::kDim);
    constexpr struct {
      const char* title;
      int width;
    } kColumns[] = {{"batch", 8}, {"clock", 9}, {"gap", 6}, {"waits", 8}, {"samples/s", 12}};
    int at = first;
    for (const auto& c : kColumns) {
      at += c.width;
      if (at <= options_.width) head.right(c.title, at, Style::kDim);
    }
    push(head);
    const std::size_t shown =
        status_.members.size() <= rows ? status_.members.size() : std::max<std::size_t>(rows, 1) - 1;
    for (std::size_t i = 0; i < shown; ++i) {
      const MasterStatus::Member& m = status_.members[i];
      const auto found = metrics_.members.find(m.key.id);
      const RunMetrics::Member own = found == metrics_.members.end() ? RunMetrics::Member{} : found->second;
      Line line(options_);
      line.add(" " + shortened(m.name, name), m.in_view ? Style::kPlain : Style::kDim).to_column(device_at);
      line.add(shortened(m.host + "/" + m.device, device), Style::kDim);
      if (!m.in_view) {
        line.to_column(first + 3).add(m.stand_by ? "on stand-by" : "joining", Style::kDim);
      } else {
        const bool held = title_.bound && *title_.bound > 0 && own.gap >= *title_.bound;
        const bool waits = own.wait_share >= 0.25;
        const std::string cells[] = {grouped(m.batch), grouped(std::max(m.clock, own.clock).value),
                                     grouped(own.gap), percent(own.wait_share, 0),
                                     grouped(std::llround(own.samples_per_s))};
        const Style styles[] = {Style::kPlain, Style::kPlain, held ? Style::kWarn : Style::kPlain,
                                waits ? Style::kWarn : Style::kPlain, Style::kPlain};
        at = first;
        for (std::size_t c = 0; c < std::size(cells); ++c) {
          at += kColumns[c].width;
          if (at <= options_.width) line.right(cells[c], at, styles[c]);
        }
      }
      silent(line, m.silent_for);
      push(line);
    }
    if (shown < status_.members.size()) {
      Line more(options_);
      more.add(" and " + grouped(static_cast<std::int64_t>(status_.members.size() - shown)) + " more",
               Style::kDim);
      push(more);
    }
  }

  void servers(std::size_t rows) {
    int name = 7;
    for (const MasterStatus::Server& s : status_.servers)
      name = std::max(name, columns_of(printable(s.name)));
    name = std::min(name, std::max(10, options_.width / 4));
    gap_line();
    Line head(options_);
    head.add(" P-slave", Style::kDim).to_column(1 + name + 2).add("address", Style::kDim);
    push(head);
    const std::size_t shown =
        status_.servers.size() <= rows ? status_.servers.size() : std::max<std::size_t>(rows, 1) - 1;
    for (std::size_t i = 0; i < shown; ++i) {
      const MasterStatus::Server& s = status_.servers[i];
      Line line(options_);
      line.add(" " + shortened(s.name, name)).to_column(1 + name + 2).add(printable(s.address), Style::kDim);
      if (!s.host.empty()) line.add_if_fits(" on " + printable(s.host), Style::kDim);
      silent(line, s.silent_for);
      push(line);
    }
    if (shown < status_.servers.size()) {
      Line more(options_);
      more.add(" and " + grouped(static_cast<std::int64_t>(status_.servers.size() - shown)) + " more",
               Style::kDim);
      push(more);
    }
  }

  void silent(Line& line, Duration silent_for) const {
    if (silent_for < std::chrono::milliseconds(2500)) return;
    line.add("   silent for " + duration_text(seconds(silent_for)), Style::kWarn);
  }

  const RunTitle& title_;
  const MasterStatus& status_;
  const RunMetrics& metrics_;
  const double waiting_s_;
  const RenderOptions& options_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> render_table(const RunTitle& title, const MasterStatus& status,
                                      const RunMetrics& metrics, double waiting_s,
                                      const RenderOptions& options) {
  return Table(title, status, metrics, waiting_s, options).take();
}

std::string render_ending(const RunTitle& title, const RunMetrics& metrics) {
  std::string line =
      "trained " + grouped(metrics.samples) + " samples in " + duration_text(metrics.elapsed_s);
  if (metrics.last_evaluation) line += ", test accuracy " + percent(metrics.last_evaluation->accuracy, 2);
  return printable(line + "; summary.json, the model and the logs are in " + title.dir);
}

std::string render_line(const RunTitle& title, const MasterStatus& status, const RunMetrics& metrics,
                        double waiting_s) {
  std::string awaited;
  for (const std::string& a : status.awaited) awaited += (awaited.empty() ? "" : " and ") + a;
  if (!status.started) {
    return printable("waiting for " + (awaited.empty() ? std::string("the first view") : awaited) +
                     (title.address.empty() ? "" : " at " + title.address) + ", for " +
                     duration_text(waiting_s));
  }
  const std::int64_t samples = std::max(metrics.samples, status.samples);
  const auto members = std::count_if(status.members.begin(), status.members.end(),
                                     [](const MasterStatus::Member& m) { return m.in_view; });
  std::string line = "epoch " + fixed(epoch_of(samples, status), 2) + " of " +
                     fixed(epoch_of(status.end, status), 2) + ", clock " +
                     grouped(std::max(metrics.c_min, status.c_min).value);
  // Not before something was measured.
  if (metrics.loss || metrics.samples_per_s > 0)
    line += ", " + grouped(std::llround(metrics.samples_per_s)) + " samples/s";
  if (metrics.loss) line += ", loss " + fixed(*metrics.loss, 4);
  if (metrics.last_evaluation) line += ", accuracy " + percent(metrics.last_evaluation->accuracy, 2);
  line += ", " + std::to_string(members) + (members == 1 ? " member" : " members");
  if (samples < status.end && metrics.remaining_s)
    line += ", " + duration_text(*metrics.remaining_s) + " left";
  if (!awaited.empty()) line += "; waiting for " + awaited;
  return printable(line);
}

}  // namespace convoy::record
