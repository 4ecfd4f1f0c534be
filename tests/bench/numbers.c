/* How fast numbers come in and go out (P2 and P3 of the goals), next to the peers that are installed, in one run.
 * Medians of ROUNDS of processor time (of time, for two threads); all take turns, so that what else the machine does
 * slows all of them. */
#include "api/json/document.h"
#include "api/numbers/base64.h"
#include "api/numbers/number.h"
#include "core/tensor/pool.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<yyjson.h>)
#include <yyjson.h>
#define HAS_YYJSON 1
#else
#define HAS_YYJSON 0
#endif

#define ROWS 1024
#define COLUMNS 1024
#define COUNT ((size_t)ROWS * COLUMNS)
#define ROUNDS 9
#define LIMIT ((size_t)1 << 30)

static float values[COUNT];
static char *input; /* {"q":[[...]]} of "%.9g" */
static size_t input_length;
static struct buffer packed; /* {"base64":".."} */
static char *output;         /* COLUMNS * 32 bytes for each row */
static struct pool *pool;

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Sums of uniform numbers: both signs, most of them below 1. */
static void make_values(void)
{
    srand48(1);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = (float)(2 * (drand48() + drand48() + drand48()) - 3);
}

static void make_input(void)
{
    input = malloc(COUNT * 18 + 100);
    char *out = input + sprintf(input, "{\"q\":[");
    for (size_t i = 0; i < COUNT; i++)
        out += sprintf(out, "%s%.9g%s",
                       i % COLUMNS ? ","
                       : i         ? ",["
                                   : "[",
                       (double)values[i], i % COLUMNS == COLUMNS - 1 ? "]" : "");
    out += sprintf(out, "]}");
    input_length = (size_t)(out - input);
}

static double read_here(void)
{
    struct document document;
    struct error err = {0};
    double start = now();
    struct arena *arena = arena_new(LIMIT);
    if (!document_read(&document, input, input_length, (struct read_context){0}, arena, &err))
        exit(EXIT_FAILURE);
    const double *wide = document.matrices[0].values;
    void *narrow = document.matrices[0].values;
    for (size_t i = 0; i < COUNT; i++) {
        float value = (float)wide[i];
        memcpy((char *)narrow + i * sizeof value, &value, sizeof value);
    }
    double time = now() - start;
    if (memcmp(narrow, values, sizeof values) != 0)
        exit(EXIT_FAILURE);
    document_free(&document);
    arena_free(arena);
    return time;
}

/* The same numbers as {"base64":".."}, straight to their bytes. */
static double read_packed_text(void)
{
    struct document document;
    struct error err = {0};
    double start = now();
    struct arena *arena = arena_new(LIMIT);
    if (!document_read(&document, packed.data, packed.length, (struct read_context){0}, arena, &err))
        exit(EXIT_FAILURE);
    const struct document_bytes *bytes = document_bytes(&document, json_object_get(document.root, "base64"));
    double time = now() - start;
    if (!bytes || bytes->count != sizeof values || memcmp(bytes->data, values, sizeof values) != 0)
        exit(EXIT_FAILURE);
    document_free(&document);
    arena_free(arena);
    return time;
}

static double pack(void)
{
    struct base64 state = {{0}, 0};
    double start = now();
    buffer_free(&packed);
    packed = buffer_new(SIZE_MAX);
    buffer_string(&packed, "{\"base64\":\"");
    base64_append(&state, &packed, values, sizeof values);
    base64_end(&state, &packed);
    buffer_string(&packed, "\"}");
    return now() - start;
}

static double read_jansson(void)
{
    double start = now();
    json_t *root = json_loadb(input, input_length, JSON_REJECT_DUPLICATES, NULL);
    double time = now() - start;
    json_decref(root);
    return time;
}

static void print_rows(void *context, size_t row, size_t slot)
{
    (void)context;
    (void)slot;
    char *out = output + row * COLUMNS * 32;
    for (size_t i = 0; i < COLUMNS; i++) {
        out = number_print_float32(out, values[row * COLUMNS + i]);
        *out++ = ',';
    }
}

static double print_here(void)
{
    double start = now();
    pool_run(NULL, ROWS, print_rows, NULL);
    return now() - start;
}

static double print_here_two(void)
{
    double start = read_clock(CLOCK_MONOTONIC);
    pool_run(pool, ROWS, print_rows, NULL);
    return read_clock(CLOCK_MONOTONIC) - start;
}

static double print_float64(void)
{
    double start = now();
    char *out = output;
    for (size_t i = 0; i < COUNT; i++) {
        out = number_print_float64(out, (double)values[i] * 1.000000001);
        *out++ = ',';
    }
    return now() - start;
}

static double print_printf(void)
{
    double start = now();
    char *out = output;
    for (size_t i = 0; i < COUNT; i++)
        out += sprintf(out, "%.9g,", (double)values[i]);
    return now() - start;
}

static double print_jansson(void)
{
    json_t *array = json_array();
    for (size_t i = 0; i < COUNT; i++)
        json_array_append_new(array, json_real((double)values[i]));
    double start = now();
    char *text = json_dumps(array, JSON_COMPACT | JSON_REAL_PRECISION(9));
    double time = now() - start;
    free(text);
    json_decref(array);
    return time;
}

#if HAS_YYJSON
static double read_yyjson(void)
{
    double start = now();
    yyjson_doc *document = yyjson_read(input, input_length, 0);
    double time = now() - start;
    yyjson_doc_free(document);
    return time;
}

#ifdef YYJSON_WRITE_FP_TO_FLOAT
static double print_yyjson(void)
{
    yyjson_mut_doc *document = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(document, yyjson_mut_arr_with_float(document, values, COUNT));
    double start = now();
    char *text = yyjson_mut_write(document, YYJSON_WRITE_FP_TO_FLOAT, NULL);
    double time = now() - start;
    free(text);
    yyjson_mut_doc_free(document);
    return time;
}
#endif
#endif

/* What the script says about the numbers in `file`: nanoseconds for one. Negative when orjson is not installed. */
static double ask_orjson(char *file)
{
    char *named = getenv("BENCH_PYTHON");
    char *command[] = {named ? named : "python3", "tests/bench/numbers_orjson.py", file, NULL};
    char answer[100] = "";
    int ends[2];
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool started = posix_spawnp(&child, command[0], &actions, NULL, command, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    ssize_t length = started ? read(ends[0], answer, sizeof answer - 1) : 0;
    close(ends[0]);
    if (started)
        waitpid(child, NULL, 0);
    return length > 0 ? strtod(answer, NULL) : -1;
}

/* orjson lives in Python: it gets the same numbers by way of a file. */
static double print_orjson(void)
{
    char name[] = "/tmp/bench-numbers-XXXXXX";
    int file = mkstemp(name);
    if (file < 0)
        return -1;
    bool written = write(file, values, sizeof values) == (ssize_t)sizeof values;
    double time = written ? ask_orjson(name) : -1;
    close(file);
    unlink(name);
    return time < 0 ? -1 : time * 1e-9 * (double)COUNT;
}

struct contest {
    const char *name;
    double (*run)(void); /* seconds for COUNT numbers; negative: not installed */
    bool ours;
    double times[ROUNDS];
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The first is what all others are set beside. */
static void hold(const char *title, struct contest *contests, size_t count)
{
    printf("%s\n", title);
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < count; i++)
            contests[i].times[round] = contests[i].run();
    for (size_t i = 0; i < count; i++) {
        qsort(contests[i].times, ROUNDS, sizeof *contests[i].times, compare);
        double median = contests[i].times[ROUNDS / 2];
        double ours = contests[0].times[ROUNDS / 2];
        if (median < 0)
            printf("  %-22s not installed\n", contests[i].name);
        else if (i == 0)
            printf("  %-22s %7.1f ns a number\n", contests[i].name, median * 1e9 / (double)COUNT);
        else
            printf("  %-22s %7.1f ns a number; %s %.3f\n", contests[i].name, median * 1e9 / (double)COUNT,
                   contests[i].ours ? "to one thread's float32:" : "attentiond to it:",
                   contests[i].ours ? median / ours : ours / median);
    }
}

int main(void)
{
    make_values();
    make_input();
    pack();
    output = malloc(COUNT * 32);
    memset(output, 0, COUNT * 32);
    pool = pool_start(1, 1);
    struct contest reading[] = {
        {.name = "attentiond", .run = read_here},
        {.name = "the same, base64 (P15)", .run = read_packed_text, .ours = true},
        {.name = "jansson", .run = read_jansson},
#if HAS_YYJSON
        {.name = "yyjson", .run = read_yyjson},
#endif
    };
    struct contest printing[] = {
        {.name = "attentiond", .run = print_here},
        {.name = "the same, two threads", .run = print_here_two, .ours = true},
        {.name = "the same, float64", .run = print_float64, .ours = true},
        {.name = "the same, base64", .run = pack, .ours = true},
        {.name = "printf %.9g", .run = print_printf},
        {.name = "jansson", .run = print_jansson},
#if HAS_YYJSON && defined YYJSON_WRITE_FP_TO_FLOAT
        {.name = "yyjson", .run = print_yyjson},
#endif
        {.name = "orjson", .run = print_orjson},
    };
    hold("P2: read 1024 x 1024 numbers of 9 digits into float32", reading, sizeof reading / sizeof *reading);
    hold("P3: print 1024 x 1024 float32, shortest", printing, sizeof printing / sizeof *printing);
    if (!HAS_YYJSON)
        printf("yyjson is not installed\n");
    pool_stop(pool);
    free(output);
    free(input);
    buffer_free(&packed);
    return EXIT_SUCCESS;
}
