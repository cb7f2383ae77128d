/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once
/*
 * Memory that is given back all at once. Start from a zeroed struct; whoever owns the arena owns everything in it.
 * Every function returns NULL when there is no memory, and has then changed nothing.
 */
#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *newest;
};

/* Zeroed, aligned for any object. */
void *arena_alloc(struct arena *arena, size_t size);
/* The first length bytes of text, and a NUL. */
char *arena_copy(struct arena *arena, const char *text, size_t length);
/*
 * The array `items` of `count` elements with room for one more at its end. Its capacity is the next power of two, so nobody need
 * keep it; an array that was outgrown stays in the arena unused. Only for arrays that have grown by this function alone.
 */
void *arena_grow(struct arena *arena, const void *items, size_t count, size_t size);
void arena_free(struct arena *arena);
