/* Which colour a frame of a flame graph has: a class of as_flame_style(), by module, kind or name, or by how it
 * changed. */
#ifndef AS_RENDER_FLAME_COLOURS_H
#define AS_RENDER_FLAME_COLOURS_H

#include "render/flame_svg.h"

typedef struct as_flame_group {
    as_str text; /* AS_NO_STR: not known */
    bool is_gpu;
    double own;        /* of its frames */
    const char *shade; /* a class */
} as_flame_group;

typedef struct as_flame_colours {
    as_flame_colour by; /* never AUTO */
    as_vec groups;      /* as_flame_group, the largest first; none where colours are by name */
    uint32_t *of;       /* the group of each node; UINT32_MAX: coloured by its name */
    bool has_names;     /* some are */
} as_flame_colours;

/* as_flame_colours_free() in every case. False when memory is out. */
bool as_flame_colours_of(const as_flame_tree *tree, as_flame_colour by, as_flame_colours *out);
void as_flame_colours_free(as_flame_colours *colours);
/* "h2 s1" */
void as_flame_put_class(as_output *out, const as_flame_tree *tree, const as_flame_colours *colours, size_t node);

/* The class of a change from a to b, and how many there are: from what lost most to what gained most. */
enum { AS_CHANGE_CLASSES = 9 };
size_t as_flame_change(double a, double b);
typedef struct as_change_class {
    const char *name, *text; /* the class; what it stands for */
} as_change_class;
extern const as_change_class as_change_classes[AS_CHANGE_CLASSES];

/* What people see of a module: its name without the folders. */
const char *as_flame_module_name(const char *module);

/* The CSS of all classes, NUL-terminated, into a vector of char. False when memory is out. */
bool as_flame_style(as_vec *out);

#endif
