/* Names that other libraries give to what this service has under another name, and names whose place is elsewhere. */
#ifndef API_REQUEST_FOREIGN_NAMES_H
#define API_REQUEST_FOREIGN_NAMES_H

/* What to write here instead, as the end of a sentence that begins with "here it is"; NULL: there is no such name. The
 * polarity is told where it differs. */
const char *foreign_names_find(const char *name);

#endif
