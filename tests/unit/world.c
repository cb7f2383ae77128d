/* SPDX-License-Identifier: GPL-2.0-only */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "world.h"

#define ROOM 64

static const char config_text[] =
	"[defaults]\nstale-after = 5m\nstale-after-exposed = 5m\n"
	"[rule http]\nprogram = python3*\nargv = -m http.server\n"
	"[rule vite]\nprogram = node\nscript = vite\n"
	"[rule uvicorn]\nprogram = python3*\nargv = -m uvicorn\n"
	"[rule only-reported]\nprogram = lr-reported\nargv = x\naction = report\n"
	"[protect database]\nshipped = no\nprogram = postgres\n"
	"[agents]\nshipped = no\nprogram = claude | codex\n"
	"[people]\nshipped = no\nprogram = tmux\n"
	"[supervisors]\nshipped = no\nprogram = pm2\n"
	"[managers]\nshipped = no\nprogram = cron | gitlab-runner\nboot = 1m\n"
	"[wrappers]\nshipped = no\nprogram = npm | nohup\n";

const struct ruleset *world_ruleset(const char *more)
{
	struct failure failure = { 0 };
	static struct config *config;	/* of the last call: each test runs in a process of its own */
	char text[4096];

	snprintf(text, sizeof(text), "%s%s", config_text, more ? more : "");
	config_free(config);
	config = NULL;
	cr_assert_eq(config_parse("test.conf", text, strlen(text), &config, &failure), 0, "%s", failure.text);
	return config_ruleset(config);
}

static char *take_token(char **text)
{
	char *token;

	while (**text == ' ')
		(*text)++;
	if (!**text)
		return NULL;
	token = *text;
	*text += strcspn(token, " ");
	if (**text)
		*(*text)++ = '\0';
	return token;
}

/* One entry; returns its index. */
static int add_entry(struct world *world, int parent, char *text)
{
	int index = world->process_count++;
	struct process *process = &world->processes[index];
	char *bytes = calloc(1, 512), *token;
	bool is_holder = false;
	size_t length = 0;

	cr_assert_lt(index, ROOM);
	*process = (struct process){
		.id = { .start_boot_ns = (uint64_t)(index + 1) * SECOND, .tgid = (uint32_t)(100 + index) },
		.birth_parent = parent, .is_recorded = true, .is_witnessed = true, .has_execed = true, .is_exe_root_only = true,
		.parent_now = NONE, .first_child = NONE, .next_sibling = NONE, .first_held = NONE, .is_in_table = true,
		.details = FACT_KNOWN, .environ = FACT_KNOWN, .cmdline = FACT_KNOWN, .cgroup = "0::/user.slice/session-1.scope\n",
		.netns = world->host_netns, .pidns = world->host_pidns, .uid = 1000, .environment = { .is_known = true },
	};
	while ((token = take_token(&text))) {
		if (length == 0) {
			for (; strchr("~?%$", *token); token++) {
				process->has_execed &= *token != '~';
				process->is_witnessed &= *token != '?';
				process->is_exe_root_only &= *token != '$';
				if (*token == '%')
					process->tty = 0x8801;
			}
		}
		if (token[0] == '!' && token[1])
			process->end_boot_ns = strtoull(token + 1, NULL, 10) * SECOND;
		else if (token[0] == '+' && token[1])
			process->id.start_boot_ns = strtoull(token + 1, NULL, 10) * SECOND;
		else if (strcmp(token, "*") == 0)
			is_holder = true;
		else {
			memcpy(bytes + length, token, strlen(token) + 1);
			length += strlen(token) + 1;
		}
	}
	process->argv = (struct argv){ .bytes = bytes, .length = length, .is_known = true };
	process->exe = process->comm = strrchr(bytes, '/') ? strrchr(bytes, '/') + 1 : bytes;
	if (process->exe[0] == '-')
		process->exe = ++process->comm;	/* a login shell's argv[0] */
	if (strcmp(process->exe, "init") == 0)
		process->id.tgid = 1;
	program_identify(process->exe, process->comm, &process->argv, &process->program);
	if (parent != NONE && process->end_boot_ns == 0 && world->processes[parent].end_boot_ns == 0) {
		process->parent_now = parent;
		process->next_sibling = world->processes[parent].first_child;
		world->processes[parent].first_child = index;
	}
	if (parent != NONE)
		process->parent_tty = world->processes[parent].tty;
	if (is_holder) {
		struct listener *listener = &world->listeners[0];

		if (listener->holder_count == 0) {
			listener->opener = index;
			listener->opener_id = process->id;
		}
		process->first_held = world->holder_count;
		world->holders[world->holder_count++] = (struct holder){ index, 0, NONE };
		listener->holder_count++;
	}
	return index;
}

int world_add(struct world *world, int parent, const char *births)
{
	char *text = strdup(births), *rest = text, *entry;

	while ((entry = strsep(&rest, ">")))
		parent = add_entry(world, parent, entry);
	free(text);
	return parent;
}

struct world *world_make(const char *births)
{
	struct world *world = calloc(1, sizeof(*world));

	world->processes = calloc(ROOM, sizeof(*world->processes));
	world->listeners = calloc(ROOM, sizeof(*world->listeners));
	world->holders = calloc(ROOM, sizeof(*world->holders));
	world->connections = calloc(ROOM, sizeof(*world->connections));
	world->time_waits = calloc(ROOM, sizeof(*world->time_waits));
	world->host_netns = 1;
	world->host_pidns = 2;
	world->process_table = world->connection_table = FACT_KNOWN;
	world->listener_count = 1;
	world->listeners[0] = (struct listener){
		.inode = 1000, .protocol = IPPROTO_TCP, .address = { .family = AF_INET, .bytes = { 127, 0, 0, 1 } }, .port = 8000,
		.netns = 1, .opened_boot_ns = 10 * SECOND, .is_age_exact = true, .opener = NONE, .opener_comm = "", .stop = FACT_KNOWN,
	};
	world_add(world, NONE, births);
	return world;
}

int world_listen(struct world *world, int process, uint16_t port, uint64_t opened_s)
{
	int index = world->listener_count++, held = world->holder_count++;

	world->listeners[index] = world->listeners[0];
	world->listeners[index].memo.is_judged_alone = false;
	world->listeners[index].inode += (uint64_t)index;
	world->listeners[index].port = port;
	world->listeners[index].opened_boot_ns = opened_s * SECOND;
	world->listeners[index].opener = process;
	world->listeners[index].first_holder = held;
	world->listeners[index].holder_count = 1;
	world->holders[held] = (struct holder){ process, index, world->processes[process].first_held };
	world->processes[process].first_held = held;
	return index;
}

void world_free(struct world *world)
{
	for (int i = 0; i < world->process_count; i++)
		free((void *)world->processes[i].argv.bytes);
	free(world->processes);
	free(world->listeners);
	free(world->holders);
	free(world->connections);
	free(world->time_waits);
	free(world);
}

int world_find(const struct world *world, const char *exe)
{
	for (int i = 0; i < world->process_count; i++)
		if (strcmp(world->processes[i].exe, exe) == 0)
			return i;
	return NONE;
}

struct judged_world world_judge(struct world *world, const struct ruleset *ruleset, uint64_t now_s, int listener)
{
	struct judged_world judged = { 0 };
	int spare[ROOM];
	struct policy_request request = {
		.world = world, .ruleset = ruleset, .now_boot_ns = now_s * SECOND, .listener = listener, .tree = judged.tree, .spare_tree = spare,
	};

	judged.need = policy_judge(&request, &judged.verdict, &judged.step, &judged.tree_count).kind;
	return judged;
}
