/* --help, --version and what else is printed in place of serving. */
#include "server/run/cli_help.h"

#include "api/openapi/openapi.h"

#include "server/config/version.h"

static void print_setting(FILE *out, const struct setting *row)
{
    static const char *const values[] = {
        [SETTINGS_TEXT] = " TEXT",
        [SETTINGS_COUNT] = " N",
        [SETTINGS_SIZE] = " BYTES",
        [SETTINGS_SECONDS] = " SECONDS",
        [SETTINGS_RATE] = " N",
        [SETTINGS_SWITCH] = "",
        [SETTINGS_LIST] = " TEXT",
        [SETTINGS_PLACE] = " ADDRESS:PORT",
        [SETTINGS_FRAMES] = " TEXT",
        [SETTINGS_NETWORKS] = " NETWORK",
        [SETTINGS_FORMAT] = " FORMAT",
        [SETTINGS_LEVEL] = " LEVEL",
        [SETTINGS_COMPRESSION] = " CODINGS",
    };
    char variable[64];
    char flag[96];
    snprintf(flag, sizeof flag, "--%s%s", row->flag, values[row->kind]);
    fprintf(out, "  %-34s %s\n  %-34s [default: %s] [env: %s]\n", flag, row->help, "",
            row->initial[0] ? row->initial : "none", settings_variable(row, variable, sizeof variable));
}

void cli_help_print_help(FILE *out)
{
    fputs("attentiond: attention, from formula to last digit, as a JSON API over HTTP\n\n"
          "usage: attentiond [--FLAG VALUE ...]\n\n"
          "A flag beats its environment variable; one that is empty counts as unset. BYTES take K, M or G.\n\n",
          out);
    const struct setting *row = NULL;
    for (size_t i = 0; (row = settings_row(i)) != NULL; i++)
        print_setting(out, row);
    fputs("\n", out);
#define PRINT_ACTION(name, flag, help) fprintf(out, "  %-34s %s\n", "--" flag, help);
    SETTINGS_ACTIONS(PRINT_ACTION)
#undef PRINT_ACTION
}

void cli_help_print_settings(FILE *out, const struct settings *settings)
{
    static const char *const sources[] = {"default", "environment", "flag"};
    const struct setting *row = NULL;
    char value[1024];
    for (size_t i = 0; (row = settings_row(i)) != NULL; i++) {
        const void *source = (const char *)settings + row->source_offset;
        fprintf(out, "%s = %s  # %s\n", row->flag, settings_value(settings, row, value, sizeof value),
                sources[*(const enum settings_source *)source]);
    }
}

void cli_help_print_version(FILE *out)
{
    fprintf(out, "attentiond %s (%s)\n", version_program(), version_revision());
    fprintf(out, "compiler %s\n", version_compiler());
    fprintf(out, "libmicrohttpd %s\n", version_http());
    fprintf(out, "jansson %s\n", version_json());
    fprintf(out, "OpenBLAS %s, kernel %s\n", version_blas(), version_kernel());
    fprintf(out, "TLS in libmicrohttpd: %s\n", version_tls() ? "yes" : "no");
}

bool cli_help_print_openapi(FILE *out)
{
    struct buffer text = buffer_new(BUFFER_PAGE);
    bool good = openapi_text(&text) && !text.failed && fwrite(text.data, 1, text.length, out) == text.length &&
                fputc('\n', out) != EOF;
    buffer_free(&text);
    return good;
}
