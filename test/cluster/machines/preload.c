/*
 * Shifts the clock and slows the disk of a process while it runs. Loaded with LD_PRELOAD; the file that TEST_MACHINE
 * names holds two 64-bit numbers: the shift of the clock in nanoseconds and the delay of each fsync in microseconds.
 * Only the time of day is shifted: monotonic clocks do not jump on real machines either.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t none[2];
static const volatile int64_t *machine = none;

__attribute__((constructor)) static void open_machine(void) {
  const char *path = getenv("TEST_MACHINE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *memory = mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) machine = memory;
  close(file);
}

static void shift(struct timespec *time) {
  int64_t nanoseconds = time->tv_nsec + machine[0] % 1000000000;
  time->tv_sec += machine[0] / 1000000000;
  if (nanoseconds < 0) nanoseconds += 1000000000, time->tv_sec--;
  if (nanoseconds >= 1000000000) nanoseconds -= 1000000000, time->tv_sec++;
  time->tv_nsec = nanoseconds;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) shift(time);
  return result;
}

int gettimeofday(struct timeval *restrict day, void *restrict zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  day->tv_sec = now.tv_sec;
  day->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}

int fsync(int file) {
  if (machine[1] > 0) usleep((useconds_t)machine[1]);
  return syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  if (machine[1] > 0) usleep((useconds_t)machine[1]);
  return syscall(SYS_fdatasync, file);
}
