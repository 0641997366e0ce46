/* Moves the clock that a program reads: loaded before its own libraries (LD_PRELOAD).
 *
 * CLOCK_JUMP is "SECONDS CALLS": from so many calls on, the date is that much later, or earlier if negative.
 * Clocks by which programs measure how long things take stay, as they do when somebody sets the date.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long moved(void) {
    static atomic_long n_calls;
    const char *jump = getenv("CLOCK_JUMP");
    long seconds = 0, calls = 0;
    if (!jump || sscanf(jump, "%ld %ld", &seconds, &calls) != 2) return 0;
    return atomic_fetch_add(&n_calls, 1) >= calls ? seconds : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += moved();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec exact;
    int result = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return result;
}

time_t time(time_t *out) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (out) *out = exact.tv_sec;
    return exact.tv_sec;
}
