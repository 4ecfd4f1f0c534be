/* The JSON library that this layer hides, for those above who report versions. */
#ifndef API_LIBRARY_H
#define API_LIBRARY_H

/* Call once before threads exist: seeds jansson's hash tables. */
void library_start(void);

const char *library_jansson(void); /* version at run time */

#endif
