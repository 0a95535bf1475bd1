#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "transport/fault/fault_transport.h"
#include "transport/inproc/inproc_hub.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/protocol/messenger.h"

namespace parley::transport {

// Messengers linked to each other (and to themselves) in one thread: nothing happens but in progress().
class WorldOfMessengers {
 public:
  explicit WorldOfMessengers(std::uint32_t size, const fault::FaultPlan& plan = {},
                             const MessengerOptions& common = {}) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      MessengerOptions options = common;
      options.self = rank;
      options.peer_count = size;
      messengers.push_back(std::make_unique<Messenger>(options));
      fault::FaultPlan own = plan;
      own.seed += rank;
      transports.push_back(std::make_unique<fault::FaultTransport>(
          std::make_unique<InprocTransport>(hub, rank, nullptr), own));
      EXPECT_TRUE(transports.back()->start(*messengers.back()).ok());
    }
    for (std::uint32_t rank = 0; rank < size; ++rank)
      for (std::uint32_t lower = 0; lower <= rank; ++lower)
        transports[rank]->connect(lower, transports[lower]->address(), base::Deadline::never());
    settle();
  }
  ~WorldOfMessengers() {
    for (auto& transport : transports) transport->close();
    settle();
  }

  std::size_t progress(std::size_t rank) {
    messengers[rank]->end_burst();
    std::size_t events = transports[rank]->progress(nullptr);
    if (messengers[rank]->wants_pump()) events += messengers[rank]->pump();
    return events;
  }
  // Until nothing happens for longer than any fault delays.
  void settle() {
    for (int quiet = 0; quiet < 50; ++quiet)
      for (std::size_t rank = 0; rank < transports.size(); ++rank)
        if (progress(rank) != 0) quiet = 0;
  }

  Posted send(std::uint32_t from, std::uint32_t to, std::int64_t tag, const std::vector<std::byte>& data,
              bool synchronous = false, std::uint32_t context = 0) {
    SendSpec spec;
    spec.context = context;
    spec.destination = to;
    spec.tag = tag;
    spec.data = data.data();
    spec.bytes = data.size();
    spec.synchronous = synchronous;
    spec.timeout = std::chrono::hours(1);
    return messengers[from]->send(spec);
  }
  Request& receive(std::uint32_t at, std::uint32_t from, std::int64_t tag, std::vector<std::byte>& into,
                   std::uint32_t context = 0) {
    ReceiveSpec spec;
    spec.pattern = {context, from, tag};
    spec.data = into.data();
    spec.capacity_bytes = into.size();
    spec.timeout = std::chrono::hours(1);
    return *messengers[at]->receive(spec).request;
  }

  InprocHub hub;
  std::vector<std::unique_ptr<Messenger>> messengers;
  std::vector<std::unique_ptr<fault::FaultTransport>> transports;
};

}  // namespace parley::transport
