#pragma once

#include <parley/error.h>
#include <parley/object_options.h>
#include <parley/process_group.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Values of any shape instead of tensors: numbers, texts, lists and records, as nlohmann::json holds them.
// They travel as JSON text, so nothing that arrives is ever executed. Header-only; needs nlohmann/json 3.11
// or newer beside Parley, of the program's own choice: the library itself shares nothing with it.
//
// Object lists match by group, source and tag as tensors do, and never match tensors. Each list is one
// message, so two senders are never mixed, and its receiver needs to know neither length nor size. The group
// operations are collectives of the group: called by every rank, in one order with all others.
//
// Errors, beside those of ProcessGroup: UsageError when an object cannot be sent: a list beyond
// ObjectOptions::max_bytes, nested deeper than max_depth, text that is not UTF-8, or binary data. ObjectError
// when what came cannot be taken: beyond the receiver's limits, or no JSON; that list is gone then, and the
// link is fine. A group operation throws it on all ranks, and gives nobody anything, when one list is beyond
// the limit of one of them, or cannot be sent (that rank throws UsageError); the group goes on. MismatchError
// when ranks call different group operations. NaN and the infinities become null, as JSON has none.
// Thread-safety: that of ProcessGroup.
namespace parley {

using Object = nlohmann::json;

namespace detail {

// Throws UsageError for what would not arrive as it is: JSON has no binary data, and no value that failed to
// be parsed. `depth`: what is left of max_depth.
inline void check_object(const Object& object, int depth, const ObjectOptions& options) {
  if (object.is_discarded()) throw UsageError("an object that could not be parsed cannot be sent");
  if (object.is_binary()) throw UsageError("an object of binary data cannot be sent: JSON has none");
  if (!object.is_structured()) return;
  if (depth <= 0)
    throw UsageError("an object nests deeper than max_depth, " + std::to_string(options.max_depth));
  for (const Object& part : object) check_object(part, depth - 1, options);
}

inline std::string text_of_object(const Object& object, const ObjectOptions& options) {
  check_object(object, options.max_depth, options);
  try {
    return object.dump();
  } catch (const Object::exception& error) {
    throw UsageError(std::string("an object cannot be sent as JSON: ") + error.what());
  }
}

inline std::vector<std::string> texts_of_objects(std::span<const Object> objects,
                                                 const ObjectOptions& options) {
  std::vector<std::string> texts;
  texts.reserve(objects.size());
  for (const Object& object : objects) texts.push_back(text_of_object(object, options));
  return texts;
}

// The same for a group operation, in which this rank has to take part even if it can give nothing.
inline OwnTexts own_texts(std::span<const Object> objects, const ObjectOptions& options) {
  try {
    return {.texts = texts_of_objects(objects, options)};
  } catch (const UsageError& error) {
    return {.fault = error.what()};
  }
}

inline Object object_of_text(const ProcessGroup& group, int source, const std::string& text) {
  try {
    return Object::parse(text);
  } catch (const Object::exception& error) {
    refuse_object(group, source, std::string("this is no JSON: ") + error.what());
  }
}

inline std::vector<Object> objects_of_texts(const ProcessGroup& group, int source,
                                            std::span<const std::string> texts) {
  std::vector<Object> objects;
  objects.reserve(texts.size());
  for (const std::string& text : texts) objects.push_back(object_of_text(group, source, text));
  return objects;
}

// Of each rank one.
inline std::vector<Object> objects_of_ranks(const ProcessGroup& group, std::span<const std::string> texts) {
  std::vector<Object> objects;
  objects.reserve(texts.size());
  for (const std::string& text : texts)
    objects.push_back(object_of_text(group, static_cast<int>(objects.size()), text));
  return objects;
}

}  // namespace detail

// Returns when the list may be changed. An empty list is a message, too.
inline void send_object_list(ProcessGroup& group, std::span<const Object> objects, int destination,
                             const ObjectOptions& options = {}) {
  detail::send_texts(group, detail::texts_of_objects(objects, options), destination, options);
}

// Makes `objects` the list that came, of whatever length. Returns the rank that sent it; `source` may be
// any_source. If it throws, `objects` is as it was.
inline int recv_object_list(ProcessGroup& group, std::vector<Object>& objects, int source,
                            const ObjectOptions& options = {}) {
  const detail::TextList list = detail::receive_texts(group, source, options);
  objects = detail::objects_of_texts(group, list.source, list.texts);
  return list.source;
}

// Makes `objects` at every rank what it is at `source`, of whatever length.
inline void broadcast_object_list(ProcessGroup& group, std::vector<Object>& objects, int source,
                                  const ObjectOptions& options = {}) {
  detail::OwnTexts mine;
  if (group.rank() == source) mine = detail::own_texts(objects, options);
  const std::vector<std::string> texts = detail::broadcast_texts(group, mine, source, options);
  if (group.rank() != source) objects = detail::objects_of_texts(group, source, texts);
}

// At `destination`: the objects of all ranks, by rank. Elsewhere: none.
inline std::vector<Object> gather_object(ProcessGroup& group, const Object& object, int destination,
                                         const ObjectOptions& options = {}) {
  const detail::OwnTexts mine = detail::own_texts({&object, 1}, options);
  return detail::objects_of_ranks(group, detail::gather_texts(group, mine, destination, options));
}

// The objects of all ranks, by rank.
inline std::vector<Object> all_gather_object(ProcessGroup& group, const Object& object,
                                             const ObjectOptions& options = {}) {
  const detail::OwnTexts mine = detail::own_texts({&object, 1}, options);
  return detail::objects_of_ranks(group, detail::all_gather_texts(group, mine, options));
}

// At each rank: that of `objects` at `source` which has its number. UsageError at the source when they are
// not as many as there are ranks; at other ranks they are ignored.
inline Object scatter_object_list(ProcessGroup& group, std::span<const Object> objects, int source,
                                  const ObjectOptions& options = {}) {
  detail::OwnTexts all;
  if (group.rank() == source) all = detail::own_texts(objects, options);
  return detail::object_of_text(group, source, detail::scatter_texts(group, all, source, options));
}

}  // namespace parley
