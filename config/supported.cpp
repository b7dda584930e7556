#include "config/supported.h"

namespace convoy::config {

std::vector<UnsupportedKey> unsupported_keys(const RunOptions& o) {
  std::vector<UnsupportedKey> keys;
  const auto add = [&keys](std::string path, const std::string& value, std::string allowed) {
    keys.push_back({std::move(path), value + " is not available yet", std::move(allowed)});
  };
  if (!o.model.onnx.empty()) add("model.onnx", "reading ONNX", "model.name or model.file");
  if (o.sync.local_steps != 1) add("sync.local_steps", std::to_string(o.sync.local_steps), "1");
  if (o.wire.encoding != Encoding::kFp32) add("wire.encoding", to_string(o.wire.encoding), "fp32");
  if (o.plan.segments != 1) {
    add("plan.segments", o.plan.segments ? std::to_string(*o.plan.segments) : "auto", "1");
  }
  for (std::size_t i = 0; i < o.local.w_slaves.size(); ++i) {
    const DeviceName device = o.local.w_slaves[i].device;
    if (device.kind == DeviceKind::kCuda) {
      add("local.w_slave[" + std::to_string(i) + "].device", to_string(device),
          "cpu, reference, reference64");
    }
  }
  for (std::size_t i = 0; i < o.faults.size(); ++i) {
    if (o.faults[i].kind != FaultKind::kDiskFull) continue;
    add("fault[" + std::to_string(i) + "].kind", "disk_full", "the other kinds");
  }
  return keys;
}

}  // namespace convoy::config
