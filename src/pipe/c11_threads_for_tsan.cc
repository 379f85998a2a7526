// C11's threads on POSIX's, for builds with ThreadSanitizer.
//
// librdkafka starts its threads and locks with <threads.h>. GCC 12's ThreadSanitizer knows nothing
// of those: a thread that it has not seen begin crashes in the first function that it watches, and
// what a lock protects looks unprotected. POSIX's functions it does know, and in glibc the types of
// both are the same, so that one can stand for the other.
//
// What librdkafka does with its own memory is left alone, locks as objects included: it counts
// references with instructions that are not watched. What we do with what it gives us, and the
// order that its locks make, are seen.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));
static_assert(sizeof(once_flag) == sizeof(pthread_once_t));

pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int answer(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    case ENOMEM:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(start->function(start->argument)));
}

}  // namespace

extern "C" {

const char* __tsan_default_suppressions();  // whom ThreadSanitizer asks
const char* __tsan_default_suppressions() {
  return "called_from_lib:librdkafka.so\nrace:^mtx_\nrace:^cnd_\n";
}

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto start = std::make_unique<Start>(Start{function, argument});
  const int error = pthread_create(thread, nullptr, run, start.get());
  if (error == 0) static_cast<void>(start.release());
  return answer(error);
}

int thrd_join(thrd_t thread, int* result) {
  void* given = nullptr;
  const int error = pthread_join(thread, &given);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(given));
  return answer(error);
}

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  const int error = pthread_mutex_init(posix(mutex), &kind);
  pthread_mutexattr_destroy(&kind);
  return answer(error);
}
void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(posix(mutex)); }
int mtx_lock(mtx_t* mutex) { return answer(pthread_mutex_lock(posix(mutex))); }
int mtx_unlock(mtx_t* mutex) { return answer(pthread_mutex_unlock(posix(mutex))); }

int cnd_init(cnd_t* condition) { return answer(pthread_cond_init(posix(condition), nullptr)); }
void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(posix(condition)); }
int cnd_signal(cnd_t* condition) { return answer(pthread_cond_signal(posix(condition))); }
int cnd_broadcast(cnd_t* condition) { return answer(pthread_cond_broadcast(posix(condition))); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return answer(pthread_cond_wait(posix(condition), posix(mutex)));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return answer(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}

void call_once(once_flag* flag, void (*function)()) {
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), function);
}
}
