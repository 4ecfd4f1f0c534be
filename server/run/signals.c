/* Signals: handlers set flags and write to a descriptor, for a thread of OpenBLAS may be the one that gets them. */
#include "server/run/signals.h"

#include "server/watch/clock.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EXIT_FORCED 3

static int event = -1;
static _Atomic int64_t wished; /* when the end was wished for; 0: not yet */
static atomic_bool reload;

static void wake(void)
{
    uint64_t one = 1;
    (void)!write(event, &one, sizeof one);
}

/* Some send the same wish several times in one go: to the process and to its group, or from two places. */
static void note_stop(int signal)
{
    int64_t none = 0;
    int64_t now = clock_now();
    (void)signal;
    if (!atomic_compare_exchange_strong(&wished, &none, now) && now - none >= CLOCK_SECOND)
        _exit(EXIT_FORCED);
    wake();
}

static void note_reload(int signal)
{
    (void)signal;
    atomic_store(&reload, true);
    wake();
}

static bool handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL) == 0;
}

/* Signals that are kept until signals_install. */
static sigset_t kept(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return set;
}

void signals_keep(void)
{
    sigset_t set = kept();
    sigprocmask(SIG_BLOCK, &set, NULL);
}

bool signals_install(void)
{
    sigset_t set = kept();
    event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return event >= 0 && handle(SIGPIPE, SIG_IGN) && handle(SIGTERM, note_stop) && handle(SIGINT, note_stop) &&
           handle(SIGHUP, note_reload) && sigprocmask(SIG_UNBLOCK, &set, NULL) == 0;
}

bool signals_stop_wanted(void)
{
    return atomic_load(&wished) != 0;
}

bool signals_reload_wanted(void)
{
    return atomic_exchange(&reload, false);
}

void signals_wait(const int beside[SIGNALS_BESIDE], bool ready[SIGNALS_BESIDE], int milliseconds)
{
    uint64_t count = 0;
    struct pollfd pollers[1 + SIGNALS_BESIDE] = {{.fd = event, .events = POLLIN}};
    for (size_t i = 0; i < SIGNALS_BESIDE; i++)
        pollers[1 + i] = (struct pollfd){.fd = beside[i], .events = POLLIN};
    bool any = poll(pollers, 1 + SIGNALS_BESIDE, milliseconds) > 0;
    if (any && pollers[0].revents)
        (void)!read(event, &count, sizeof count);
    for (size_t i = 0; i < SIGNALS_BESIDE; i++)
        ready[i] = any && pollers[1 + i].revents != 0;
}
