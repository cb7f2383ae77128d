/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "arena.h"

#define BLOCK_BYTES 16384

struct arena_block {
	struct arena_block *older;
	size_t used, size;	/* of bytes */
	alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->newest;
	const size_t unit = alignof(max_align_t);

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + unit - 1) / unit * unit;
	if (!block || block->size - block->used < size) {
		size_t capacity = size > BLOCK_BYTES ? size : BLOCK_BYTES;

		block = calloc(1, sizeof(*block) + capacity);
		if (!block)
			return NULL;
		block->size = capacity;
		block->older = arena->newest;
		arena->newest = block;
	}

	void *memory = block->bytes + block->used;
	block->used += size;
	return memory;
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);

	if (copy && length > 0)
		memcpy(copy, text, length);
	return copy;
}

void *arena_grow(struct arena *arena, const void *items, size_t count, size_t size)
{
	bool is_full = (count & (count - 1)) == 0;	/* capacity 1, 2, 4, ...; 0 of nothing */

	if (!is_full)
		return (void *)(uintptr_t)items;

	size_t capacity = count == 0 ? 1 : 2 * count;
	if (capacity > SIZE_MAX / 2 / size)
		return NULL;

	void *larger = arena_alloc(arena, capacity * size);
	if (larger && count > 0)
		memcpy(larger, items, count * size);
	return larger;
}

void arena_free(struct arena *arena)
{
	while (arena->newest) {
		struct arena_block *block = arena->newest;

		arena->newest = block->older;
		free(block);
	}
}
