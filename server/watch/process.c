/* The process as the kernel sees it. */
#include "server/watch/process.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void write_family(struct buffer *out, const char *name, const char *type, const char *help, double value)
{
    buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, type, name, value);
}

static void write_cpu(struct buffer *out)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    write_family(out, "process_cpu_seconds_total", "counter", "User and system CPU time in seconds.", seconds);
}

static void write_memory(struct buffer *out)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return;
    if (fscanf(file, "%*u %lu", &pages) == 1)
        write_family(out, "process_resident_memory_bytes", "gauge", "Resident memory in bytes.",
                     (double)pages * (double)sysconf(_SC_PAGESIZE));
    fclose(file);
}

static void write_descriptors(struct buffer *out)
{
    struct rlimit limit;
    double count = -3; /* ".", ".." and the folder itself */
    DIR *folder = opendir("/proc/self/fd");
    if (folder) {
        while (readdir(folder))
            count++;
        closedir(folder);
        write_family(out, "process_open_fds", "gauge", "Open file descriptors.", count);
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        write_family(out, "process_max_fds", "gauge", "Most file descriptors that may be open.",
                     (double)limit.rlim_cur);
}

/* Field 22 of /proc/self/stat, in ticks since the machine started; the name before it may hold anything but is in
 * parentheses. */
static void write_start(struct buffer *out)
{
    char line[1024] = "";
    unsigned long long ticks = 0;
    struct timespec now;
    struct timespec up;
    FILE *file = fopen("/proc/self/stat", "re");
    if (!file)
        return;
    const char *after = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    if (!after || sscanf(after + 1, "%*s %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                         &ticks) != 1)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &up);
    double started = (double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) / 1e9 +
                     (double)ticks / (double)sysconf(_SC_CLK_TCK);
    write_family(out, "process_start_time_seconds", "gauge", "Start of the process in seconds since 1970.", started);
}

void process_write_metrics(struct buffer *out)
{
    write_cpu(out);
    write_memory(out);
    write_descriptors(out);
    write_start(out);
}
