/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process is, from its executable and its argv as given to exec. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "../../user/judge/program.h"

/* "a b c" as an argv block; \1 stands for a blank within a token. */
static struct argv block(const char *text)
{
	size_t length = strlen(text) + 1;
	char *bytes = calloc(1, length + 1);

	memcpy(bytes, text, length);
	for (size_t i = 0; i + 1 < length; i++)
		bytes[i] = bytes[i] == ' ' ? '\0' : bytes[i] == '\1' ? ' ' : bytes[i];
	return (struct argv){ .bytes = bytes, .length = *text ? length : 0, .is_known = true };
}

static const struct {
	const char *sentence, *exe, *argv;
	const char *script, *package, *module, *main, *first;
} rows[] = {
	{ "python's module", "python3.11", "python3 -m http.server 8000", NULL, NULL, "http.server", NULL, "-m" },
	{ "joined", "python3.11", "python3 -mhttp.server", NULL, NULL, "http.server", NULL, "-mhttp.server" },
	{ "behind other letters", "python3.11", "python3 -um http.server", NULL, NULL, "http.server", NULL, "-um" },
	{ "options in front", "python3.11", "python3 -B -X dev -W ignore -m http.server", NULL, NULL, "http.server", NULL, "-m" },
	{ "joined words of options", "python3.11", "python3 -Xdev -Wignore -m http.server", NULL, NULL, "http.server", NULL, "-m" },
	{ "a script, the words are its arguments", "python3.11", "python3 x.py -m http.server", "x.py", NULL, NULL, NULL, "x.py" },
	{ "a script by its path", "python3", "python3 /srv/app/manage.py runserver", "manage.py", NULL, NULL, NULL, "/srv/app/manage.py" },
	{ "code", "python3", "python3 -c import\1x -m http.server", NULL, NULL, NULL, NULL, "-c" },
	{ "standard input", "python3", "python3 -", NULL, NULL, NULL, NULL, "-" },
	{ "nothing at all", "python3", "python3", NULL, NULL, NULL, NULL, NULL },
	{ "a dash in front of its name", "python3.11", "-python3 -m http.server", NULL, NULL, "http.server", NULL, "-m" },
	{ "pypy", "pypy3", "pypy3 -m http.server", NULL, NULL, "http.server", NULL, "-m" },
	{ "a program that begins like python", "pythonista", "pythonista -m http.server", NULL, NULL, NULL, NULL, "-m" },

	{ "node's script without its ending", "node", "node server.js", "server", NULL, NULL, NULL, "server.js" },
	{ "cjs and mjs too", "node", "node a/b.mjs", "b", NULL, NULL, NULL, "a/b.mjs" },
	{ "a package", "node", "node /p/node_modules/vite/bin/vite.js", "vite", "vite", NULL, NULL, "/p/node_modules/vite/bin/vite.js" },
	{ "a scoped one", "node", "node node_modules/@angular/cli/bin/ng serve", "ng", "@angular/cli", NULL, NULL, "node_modules/@angular/cli/bin/ng" },
	{ "the innermost", "node", "node /p/node_modules/a/node_modules/b/c.js", "c", "b", NULL, NULL, "/p/node_modules/a/node_modules/b/c.js" },
	{ "a command in .bin", "node", "node /p/node_modules/.bin/next dev", "next", "next", NULL, NULL, "/p/node_modules/.bin/next" },
	{ "a folder that only ends so", "node", "node /p/my_node_modules/x.js", "x", NULL, NULL, NULL, "/p/my_node_modules/x.js" },
	{ "options with words", "node", "node -r dotenv/config --import tsx --max-old-space-size=4096 app.js", "app", NULL, NULL, NULL, "app.js" },
	{ "watch is an option", "node", "node --watch app.js", "app", NULL, NULL, NULL, "app.js" },
	{ "node's code", "node", "node -e console.log(1) x.js", NULL, NULL, NULL, NULL, "-e" },
	{ "two dashes end options", "node", "node -- -x.js", "-x", NULL, NULL, NULL, "-x.js" },
	{ "deno's run", "deno", "deno run -A main.ts", "main.ts", NULL, NULL, NULL, "run" },
	{ "bun's script", "bun", "bun run --hot server.ts", "server.ts", NULL, NULL, NULL, "run" },

	{ "php -S stays in sight", "php8.2", "php -d a=b -n -S localhost:8000", NULL, NULL, NULL, NULL, "-S" },
	{ "php's script", "php", "php -d a=b artisan serve", "artisan", NULL, NULL, NULL, "artisan" },
	{ "ruby", "ruby3.1", "ruby -I lib -r x bin/rails server", "rails", NULL, NULL, NULL, "bin/rails" },
	{ "java's jar", "java", "java -Xmx1g -cp /a:/b -jar /opt/emulator-1.2.jar --port 1", NULL, NULL, NULL, "emulator-1.2.jar", NULL },
	{ "java's class", "java", "java -cp /a com.example.Main x", NULL, NULL, NULL, "com.example.Main", NULL },
	{ "a native program", "kubectl", "kubectl port-forward pod/x 1:1", NULL, NULL, NULL, NULL, "port-forward" },
	{ "no executable known: argv[0] tells", NULL, "/usr/bin/python3 -m http.server", NULL, NULL, "http.server", NULL, "-m" },
	{ "the executable counts, not argv[0]", "tail", "python3 -m http.server", NULL, NULL, NULL, NULL, "-m" },
	{ "an empty argv", "python3", "", NULL, NULL, NULL, NULL, NULL },
};

static void expect(const char *sentence, const char *what, struct span found, const char *wanted)
{
	if (wanted)
		cr_expect(span_equals(found, wanted), "%s: %s is `%.*s`, not `%s`", sentence, what, (int)found.length, found.length ? found.start : "", wanted);
	else
		cr_expect_eq(found.length, 0, "%s: %s is `%.*s`", sentence, what, (int)found.length, found.length ? found.start : "");
}

Test(program, each_name_is_taken_from_where_it_stands)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct argv argv = block(rows[i].argv);
		struct program program;
		const char *first;

		program_identify(rows[i].exe, "comm", &argv, &program);
		expect(rows[i].sentence, "script", program.script, rows[i].script);
		expect(rows[i].sentence, "package", program.package, rows[i].package);
		expect(rows[i].sentence, "module", program.module, rows[i].module);
		expect(rows[i].sentence, "main", program.main, rows[i].main);
		cr_expect_not(program.is_incomplete, "%s: incomplete", rows[i].sentence);
		first = program_first_argument(&program, &argv);
		if (rows[i].first || !rows[i].main)
			cr_expect(first == rows[i].first || (first && rows[i].first && strcmp(first, rows[i].first) == 0), "%s: first argument %s, not %s",
				  rows[i].sentence, first ? first : "(none)", rows[i].first ? rows[i].first : "(none)");
		free((void *)argv.bytes);
	}
}

static const struct {
	const char *sentence, *argv;
	bool is_person, is_script;	/* with a terminal */
	bool is_script_without;
} shells[] = {
	{ "bash on a terminal", "bash", true, false, true },
	{ "a login shell", "-bash", true, false, true },
	{ "bash -i", "bash -i", true, false, true },
	{ "options with words", "bash --rcfile x --init-file y -o vi", true, false, true },
	{ "bash -l --posix", "bash -l --posix", true, false, true },
	{ "a script", "bash dev.sh", false, true, true },
	{ "a script behind options", "bash -eo pipefail dev.sh", false, true, true },
	{ "a command", "bash -c x", false, false, false },
	{ "a command in joined letters", "bash -lc x", false, false, false },
	{ "interactive, but with a command", "bash -ic x", false, false, false },
	{ "a script behind --", "bash -- dev.sh", false, true, true },
};

Test(program, a_shell_is_a_person_a_script_or_a_wrapper)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		struct argv argv = block(shells[i].argv);
		struct program program;

		program_identify("bash", "bash", &argv, &program);
		cr_expect_eq(program_is_interactive_shell(&program, &argv, true), shells[i].is_person, "%s: person", shells[i].sentence);
		cr_expect_not(program_is_interactive_shell(&program, &argv, false), "%s: a person without a terminal", shells[i].sentence);
		cr_expect_eq(program_is_script(&program, &argv, true), shells[i].is_script, "%s: script", shells[i].sentence);
		cr_expect_eq(program_is_script(&program, &argv, false), shells[i].is_script_without, "%s: script without a terminal", shells[i].sentence);
		free((void *)argv.bytes);
	}
}

Test(program, a_cut_argv_says_so_only_when_it_matters)
{
	static const struct {
		const char *sentence, *exe, *argv;
		bool is_incomplete;
	} cut[] = {
		{ "cut behind the module", "python3", "python3 -m http.server --bi", false },
		{ "cut within the module", "python3", "python3 -m http.ser", true },
		{ "cut within the script", "node", "node /p/node_modules/vi", true },
		{ "cut among options", "java", "java -cp /a:/b:/c", true },
		{ "a native program has no script", "kubectl", "kubectl port-forw", false },
	};

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		struct argv argv = block(cut[i].argv);
		struct program program;

		argv.length--;		/* the NUL behind the last token is not of the record */
		argv.is_cut = true;
		program_identify(cut[i].exe, "comm", &argv, &program);
		cr_expect_eq(program.is_incomplete, cut[i].is_incomplete, "%s", cut[i].sentence);
		free((void *)argv.bytes);
	}
}

Test(program, same_program_is_same_executable_and_script)
{
	static const struct {
		const char *sentence, *exe, *argv, *other_exe, *other_argv;
		bool is_same;
	} pairs[] = {
		{ "the same module", "python3", "python3 -m http.server 1", "python3", "python3 -m http.server 2", true },
		{ "another module", "python3", "python3 -m http.server", "python3", "python3 -m flask", false },
		{ "another script", "node", "node a.js", "node", "node b.js", false },
		{ "the same name elsewhere", "node", "node /a/x.js", "node", "node /b/x.js", false },
		{ "code is never known to be the same", "python3", "python3 -c 1", "python3", "python3 -c 1", false },
		{ "a native program", "nginx", "nginx -g x", "nginx", "nginx: worker", true },
		{ "another executable", "nginx", "nginx", "apache2", "nginx", false },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct argv one = block(pairs[i].argv), other = block(pairs[i].other_argv);
		struct program first, second;

		program_identify(pairs[i].exe, "", &one, &first);
		program_identify(pairs[i].other_exe, "", &other, &second);
		cr_expect_eq(program_is_same(&first, &second), pairs[i].is_same, "%s", pairs[i].sentence);
		free((void *)one.bytes);
		free((void *)other.bytes);
	}
}
