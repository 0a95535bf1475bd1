#pragma once

#include <cassert>
#include <cstddef>

namespace parley::base {

// Membership of an object in one list. `Tag` tells several hooks of one object apart.
template <typename Tag>
struct ListHook {
  ListHook* previous = nullptr;
  ListHook* next = nullptr;
  [[nodiscard]] bool is_linked() const noexcept { return next != nullptr; }
  ListHook() = default;
  ListHook(const ListHook&) = delete;
  ListHook& operator=(const ListHook&) = delete;
};

// Doubly linked list through hooks inside the elements; allocates nothing, owns nothing.
// Invariants: (1) an element is in at most one list per Tag; (2) the list is circular through `root_`;
// (3) an unlinked hook has null pointers. Thread-safety: none.
template <typename T, typename Tag>
class IntrusiveList {
 public:
  using Hook = ListHook<Tag>;

  IntrusiveList() noexcept { root_.previous = root_.next = &root_; }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  [[nodiscard]] bool empty() const noexcept { return root_.next == &root_; }
  // nullptr when empty.
  [[nodiscard]] T* front() noexcept { return element(root_.next); }
  [[nodiscard]] T* back() noexcept { return element(root_.previous); }
  // The element after `item`, or nullptr at the end.
  [[nodiscard]] T* next(T& item) noexcept { return element(hook(item).next); }

  void push_back(T& item) noexcept { link(hook(item), *root_.previous, root_); }
  void push_front(T& item) noexcept { link(hook(item), root_, *root_.next); }
  void insert_before(T& position, T& item) noexcept {
    link(hook(item), *hook(position).previous, hook(position));
  }
  T* pop_front() noexcept {
    T* item = front();
    if (item != nullptr) remove(*item);
    return item;
  }
  // REQUIRES: `item` is in this list.
  static void remove(T& item) noexcept {
    Hook& node = hook(item);
    node.previous->next = node.next;
    node.next->previous = node.previous;
    node.previous = node.next = nullptr;
  }
  static bool is_linked(const T& item) noexcept { return static_cast<const Hook&>(item).is_linked(); }

 private:
  static Hook& hook(T& item) noexcept { return static_cast<Hook&>(item); }
  T* element(Hook* node) noexcept { return node == &root_ ? nullptr : static_cast<T*>(node); }
  static void link(Hook& node, Hook& before, Hook& after) noexcept {
    assert(!node.is_linked());
    node.previous = &before;
    node.next = &after;
    before.next = &node;
    after.previous = &node;
  }

  Hook root_;
};

}  // namespace parley::base
