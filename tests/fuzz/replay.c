/* Runs a fuzz target over the files of its corpus, in place of libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of a file in a block of exactly its size, so that a sanitizer sees a read past its end. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        exit(EXIT_FAILURE);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*size > 0 ? *size : 1);
    if (data == NULL || fread(data, 1, *size, file) != *size)
        exit(EXIT_FAILURE);
    fclose(file);
    return data;
}

static void replay(const char *folder, const char *name)
{
    char path[4096];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    fprintf(stderr, "%s\n", path);
    uint8_t *data = read_file(path, &size);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

int main(int count, char **arguments)
{
    DIR *folder = count == 2 ? opendir(arguments[1]) : NULL;
    if (folder == NULL) {
        fprintf(stderr, "usage: %s CORPUS\n", arguments[0]);
        return EXIT_FAILURE;
    }
    int inputs = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        replay(arguments[1], entry->d_name);
        inputs++;
    }
    closedir(folder);
    printf("100%%: Checks: %d, Failures: 0, Errors: 0\n", inputs);
    return inputs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
