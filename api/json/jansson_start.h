/* The JSON library that this layer hides, for those above who report versions. */
#ifndef API_JSON_JANSSON_START_H
#define API_JSON_JANSSON_START_H

/* Call once before threads exist: seeds jansson's hash tables. */
void jansson_start(void);

const char *jansson_start_version(void); /* version at run time */

#endif
