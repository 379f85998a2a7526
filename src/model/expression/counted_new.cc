#include "model/expression/counted_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> news{0};

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++news;
  return std::malloc(size > 0 ? size : 1);
}
void* operator new(std::size_t size) {
  if (void* room = operator new(size, std::nothrow)) return room;
  throw std::bad_alloc();
}
void operator delete(void* room) noexcept { std::free(room); }
void operator delete(void* room, std::size_t) noexcept { std::free(room); }

namespace pawl {

std::size_t news_so_far() { return news; }

}  // namespace pawl
