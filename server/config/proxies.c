/* X-Forwarded-For: every proxy appends the address that it was asked from, as one more entry or one more line. */
#include "server/config/proxies.h"

#include <string.h>

#define LINES_MAX 16
#define NAME "X-Forwarded-For"

bool proxies_read(struct proxies *proxies, const char *text)
{
    for (;;) {
        text += strspn(text, " ,");
        size_t length = strcspn(text, " ,");
        if (length == 0)
            return true;
        if (proxies->count == PROXIES_MAX || !network_read(&proxies->networks[proxies->count], text, length))
            return false;
        proxies->count++;
        text += length;
    }
}

bool proxies_trust(const struct proxies *proxies, const struct address *address)
{
    for (size_t i = 0; i < proxies->count; i++)
        if (network_has(&proxies->networks[i], address))
            return true;
    return false;
}

struct explain_text {
    size_t count;
    const char *texts[LINES_MAX];
    size_t lengths[LINES_MAX];
};

/* The last lines are kept: what is nearest to us is to be trusted most. */
static enum MHD_Result take_line(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                 const char *value, size_t value_size)
{
    struct explain_text *lines = context;
    (void)kind;
    if (name_size != strlen(NAME) || strncasecmp(name, NAME, name_size) != 0)
        return MHD_YES;
    lines->texts[lines->count % LINES_MAX] = value ? value : "";
    lines->lengths[lines->count % LINES_MAX] = value ? value_size : 0;
    lines->count++;
    return MHD_YES;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Takes the last entry off a line: its start in *entry, its length. */
static size_t take_entry(const char *line, size_t *left, const char **entry)
{
    size_t end = *left;
    while (end > 0 && is_blank(line[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && line[start - 1] != ',')
        start--;
    *left = start > 0 ? start - 1 : 0;
    while (start < end && is_blank(line[start]))
        start++;
    *entry = line + start;
    return end - start;
}

/* Goes through a line from its end; true when the client was found, or what stands before cannot be relied on. */
static bool search_line(const struct proxies *proxies, const char *line, size_t left, struct address *client)
{
    while (left > 0) {
        const char *entry = NULL;
        struct address address;
        size_t length = take_entry(line, &left, &entry);
        if (!address_read(&address, entry, length))
            return true;
        *client = address;
        if (!proxies_trust(proxies, &address))
            return true;
    }
    return false;
}

struct address proxies_find_client(const struct proxies *proxies, struct MHD_Connection *connection,
                                   const struct address *peer)
{
    struct explain_text lines = {0};
    struct address client = *peer;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_line, &lines);
    size_t oldest = lines.count > LINES_MAX ? lines.count - LINES_MAX : 0;
    for (size_t i = lines.count; i > oldest; i--)
        if (search_line(proxies, lines.texts[(i - 1) % LINES_MAX], lines.lengths[(i - 1) % LINES_MAX], &client))
            break;
    return client;
}
