#include "api/launch/node_messages.h"

#include "transport/base/log.h"

namespace parley::launch {
namespace {

constexpr std::uint16_t version = 1;

}  // namespace

std::string NodeCard::name(int node) const {
  return base::concat("node ", node, " (", host, ", pid ", pid, ")");
}

base::Bytes encode(const NodeCard& card) {
  base::WireWriter writer;
  writer.put(version).put(card.nodes).put(card.ranks).put_string(card.host).put(card.pid);
  return std::move(writer).bytes();
}

std::optional<NodeCard> decode_node_card(std::span<const std::byte> bytes) {
  base::WireReader reader(bytes);
  if (reader.get<std::uint16_t>() != version) return std::nullopt;
  const auto nodes = reader.get<std::int32_t>();
  const auto ranks = reader.get<std::int32_t>();
  const auto host = reader.get_string();
  const auto pid = reader.get<std::int64_t>();
  if (!reader.finished() || *nodes < 1 || *ranks < 1) return std::nullopt;
  return NodeCard{*nodes, *ranks, *host, *pid};
}

base::Bytes encode(const NodeOutcome& outcome) {
  base::WireWriter writer;
  writer.put(version)
      .put(outcome.kind)
      .put(outcome.node)
      .put_string(outcome.where)
      .put_string(outcome.sentence)
      .put(outcome.exit_code)
      .put(outcome.signal_number);
  return std::move(writer).bytes();
}

std::optional<NodeOutcome> decode_node_outcome(std::span<const std::byte> bytes) {
  base::WireReader reader(bytes);
  if (reader.get<std::uint16_t>() != version) return std::nullopt;
  const auto kind = reader.get<std::uint8_t>();
  const auto node = reader.get<std::int32_t>();
  const auto where = reader.get_string();
  const auto sentence = reader.get_string();
  const auto exit_code = reader.get<std::int32_t>();
  const auto signal_number = reader.get<std::int32_t>();
  const bool complete = reader.finished();
  if (!complete || *kind > static_cast<std::uint8_t>(NodeOutcome::Kind::interrupted)) return std::nullopt;
  return NodeOutcome{
      static_cast<NodeOutcome::Kind>(*kind), *node, *where, *sentence, *exit_code, *signal_number};
}

}  // namespace parley::launch
