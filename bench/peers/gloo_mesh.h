#pragma once

#include <gloo/rendezvous/context.h>
#include <parley/store.h>

#include <memory>

namespace parley::bench {

// How the calling thread and a connection of Gloo's go together.
enum class GlooMode {
  asynchronous,  // Gloo's default: a thread of the library sleeps in epoll, moves the bytes and wakes the
                 // caller
  busy_polling,  // the caller itself writes, and asks for bytes until they are there
};

// A connection to each other rank, over TCP and 127.0.0.1. All ranks call it, with the same store and name.
// Throws gloo::Exception or StoreError.
std::shared_ptr<gloo::Context> connect_gloo_mesh(int rank, int size, const std::shared_ptr<Store>& store,
                                                 const char* name, GlooMode mode);

}  // namespace parley::bench
