/* SPDX-License-Identifier: GPL-2.0-only */
#include "traffic.h"

/* Is this the server side of a connection to that listener, held by the tree or waiting in the listener's own queue? */
static bool is_server_side(const struct world *world, const struct connection *connection, int listener, const struct tree *tree)
{
	const struct listener *subject = &world->listeners[listener];

	if (connection->queue != NONE)
		return connection->queue == listener;
	return connection->holder != NONE && tree_has(world, tree, connection->holder) && connection->netns == subject->netns &&
	       connection->local_port == subject->port &&
	       addr_accepts(&subject->address, subject->is_v6only, &connection->local);
}

static bool is_other_end(const struct connection *peer, const struct connection *connection)
{
	return peer->queue == NONE && peer->local_port == connection->remote_port && peer->remote_port == connection->local_port &&
	       addr_equal(&peer->local, &connection->remote) && addr_equal(&peer->remote, &connection->local);
}

/* Not one that asks for an environment: that is read of holders only. */
static bool is_reaping_rule(const struct world *world, const struct rule *rule, int process)
{
	return rule->action == RULE_KILL && rule->env_count == 0 && (rule->matcher.program.count > 0 || rule_names_server(rule)) &&
	       (rule->born_of.count == 0 || lineage_is_born_of(world, process, &rule->born_of)) &&
	       lineage_fits_rule(world, rule, process) == MATCH_YES;
}

/*
 * Left by the same ended owner and itself to be reaped: an automation browser and the server it was started for must not keep
 * each other alive. A browser's connections are its network process's, so its birth ancestors below the anchor are asked too.
 */
static bool is_leftover(struct world *world, const struct ruleset *ruleset, int process, const struct walk *walk)
{
	if (walk->anchor == NONE || walk->is_anchor_alive)
		return false;

	struct ancestor above;
	int subject = process;

	for (int guard = 0; guard <= world->process_count && subject != walk->anchor; guard++) {
		for (size_t rule = 0; rule < ruleset->rule_count; rule++) {
			struct walk own;

			if (!is_reaping_rule(world, &ruleset->rules[rule], subject))
				continue;
			lineage_walk(world, ruleset, subject, (int)rule, &own, NULL, 0, NULL);
			if (own.lineage == LINEAGE_ORPHAN && own.anchor == walk->anchor)
				return true;
		}
		if (!lineage_next(world, subject, &above))
			break;
		subject = above.elder;
	}
	return false;
}

/* A peer that nobody here holds is remote, or cannot be told from one: it counts. */
static bool peer_counts(struct world *world, const struct ruleset *ruleset, const struct connection *connection,
			const struct tree *tree, const struct walk *walk)
{
	bool is_local = false;

	for (int i = 0; i < world->connection_count; i++) {
		const struct connection *peer = &world->connections[i];

		if (peer == connection || peer->holder == NONE || !is_other_end(peer, connection))
			continue;
		is_local = true;
		if (!tree_has(world, tree, peer->holder) && !is_leftover(world, ruleset, peer->holder, walk))
			return true;
	}
	return !is_local;
}

/* One connection that several processes hold counts once. */
static bool is_repeated(const struct world *world, int connection)
{
	const struct connection *subject = &world->connections[connection];

	for (int i = 0; i < connection; i++) {
		const struct connection *earlier = &world->connections[i];

		if (earlier->netns == subject->netns && earlier->queue == subject->queue && earlier->local_port == subject->local_port &&
		    earlier->remote_port == subject->remote_port && addr_equal(&earlier->local, &subject->local) &&
		    addr_equal(&earlier->remote, &subject->remote))
			return true;
	}
	return false;
}

struct traffic traffic_count(struct world *world, const struct ruleset *ruleset, int listener, const struct tree *tree,
			     const struct walk *walk)
{
	const struct listener *subject = &world->listeners[listener];
	struct traffic traffic = { 0 };

	for (int i = 0; i < world->connection_count; i++) {
		const struct connection *connection = &world->connections[i];

		if (is_server_side(world, connection, listener, tree) && !is_repeated(world, i) &&
		    peer_counts(world, ruleset, connection, tree, walk))
			traffic.connections++;
	}
	for (int i = 0; i < world->time_wait_count && !traffic.has_time_wait; i++) {
		const struct time_wait *left = &world->time_waits[i];

		traffic.has_time_wait = left->netns == subject->netns && left->local_port == subject->port &&
					addr_accepts(&subject->address, subject->is_v6only, &left->local);
	}
	return traffic;
}
