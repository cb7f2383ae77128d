/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process is, from its executable and its argv as given to exec. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "../../user/judge/program.h"

/* "a b c" as an argv block; \1 stands for a blank within a token, \2 for a token of nothing. */
static struct argv block(const char *text)
{
	size_t length = strlen(text) + 1;
	char *bytes = calloc(1, length + 1);

	memcpy(bytes, text, length);
	for (size_t i = 0; i + 1 < length; i++)
		bytes[i] = bytes[i] == ' ' ? '\0' : bytes[i] == '\1' ? ' ' : bytes[i];
	for (char *empty; (empty = memchr(bytes, '\2', length));)
		memmove(empty, empty + 1, (size_t)(bytes + length-- - empty));
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
	{ "F8: a dash in front of its name", "python3.11", "-python3 -m http.server", NULL, NULL, "http.server", NULL, "-m" },
	{ "pypy", "pypy3", "pypy3 -m http.server", NULL, NULL, "http.server", NULL, "-m" },
	{ "pypy's option with a word", "pypy3", "pypy3 --jit off a.py", "a.py", NULL, NULL, NULL, "a.py" },
	{ "a long option with a word", "python3", "python3 --check-hash-based-pycs always -OO a.py", "a.py", NULL, NULL, NULL, "a.py" },
	{ "code behind its letter", "python3", "python3 -cprint(1) -m http.server", NULL, NULL, NULL, NULL, "-cprint(1)" },
	{ "a folder with a __main__.py", "python3", "python3 /srv/app/", "app", NULL, NULL, NULL, "/srv/app/" },
	{ "-m without its module", "python3", "python3 -m", NULL, NULL, NULL, NULL, "-m" },
	{ "an option without its word", "python3", "python3 -X", NULL, NULL, NULL, NULL, NULL },
	{ "a shebang's script", "python3.11", "/usr/bin/python3 /usr/local/bin/uvicorn app:x", "uvicorn", NULL, NULL, NULL, "/usr/local/bin/uvicorn" },
	{ "a program that begins like python", "pythonista", "pythonista -m http.server", NULL, NULL, NULL, NULL, "-m" },

	{ "node's script without its ending", "node", "node server.js", "server", NULL, NULL, NULL, "server.js" },
	{ "cjs and mjs too", "node", "node a/b.mjs", "b", NULL, NULL, NULL, "a/b.mjs" },
	{ "a package", "node", "node /p/node_modules/vite/bin/vite.js", "vite", "vite", NULL, NULL, "/p/node_modules/vite/bin/vite.js" },
	{ "a scoped one", "node", "node node_modules/@angular/cli/bin/ng serve", "ng", "@angular/cli", NULL, NULL, "node_modules/@angular/cli/bin/ng" },
	{ "the innermost", "node", "node /p/node_modules/a/node_modules/b/c.js", "c", "b", NULL, NULL, "/p/node_modules/a/node_modules/b/c.js" },
	{ "a command in .bin", "node", "node /p/node_modules/.bin/next dev", "next", "next", NULL, NULL, "/p/node_modules/.bin/next" },
	{ "a script of that package", "node", "node /usr/lib/node_modules/npm/bin/npm-cli.js run dev", "npm-cli", "npm", NULL, NULL, "/usr/lib/node_modules/npm/bin/npm-cli.js" },
	{ "a global command", "node", "node /usr/bin/http-server", "http-server", NULL, NULL, NULL, "/usr/bin/http-server" },
	{ "pnpm's way from .bin into the package", "node", "node /p/node_modules/.bin/../storybook/bin/index.cjs dev", "index", "storybook", NULL, NULL, "/p/node_modules/.bin/../storybook/bin/index.cjs" },
	{ "and into a scoped one", "node", "node /p/node_modules/.bin/../@angular/cli/bin/ng.js serve", "ng", "@angular/cli", NULL, NULL, "/p/node_modules/.bin/../@angular/cli/bin/ng.js" },
	{ "from .bin out of all packages", "node", "node /p/node_modules/.bin/../../x.js", "x", NULL, NULL, NULL, "/p/node_modules/.bin/../../x.js" },
	{ "a package and no more", "node", "node node_modules/vite", "vite", "vite", NULL, NULL, "node_modules/vite" },
	{ "a folder that only ends so", "node", "node /p/my_node_modules/x.js", "x", NULL, NULL, NULL, "/p/my_node_modules/x.js" },
	{ "options with words", "node", "node -r dotenv/config --import tsx --max-old-space-size=4096 app.js", "app", NULL, NULL, NULL, "app.js" },
	{ "more of them", "node", "node --disable-warning X --env-file-if-exists .env --report-dir d --unhandled-rejections strict app.js", "app", NULL, NULL, NULL, "app.js" },
	{ "joined by =", "node", "node --require=x --env-file=.env --inspect=9229 app.js", "app", NULL, NULL, NULL, "app.js" },
	{ "an option that takes no word", "node", "node --inspect --enable-source-maps app.js", "app", NULL, NULL, NULL, "app.js" },
	{ "a task of package.json", "node", "node --run dev", NULL, NULL, NULL, NULL, "--run" },
	{ "code joined by =", "node", "node --eval=1 x.js", NULL, NULL, NULL, NULL, "--eval=1" },
	{ "one ending, not two", "node", "node x.mjs.js", "x.mjs", NULL, NULL, NULL, "x.mjs.js" },
	{ "an ending alone is a name", "node", "node .js", ".js", NULL, NULL, NULL, ".js" },
	{ "a version in its name", "node-20", "node /p/node_modules/.bin/vite", "vite", "vite", NULL, NULL, "/p/node_modules/.bin/vite" },
	{ "watch is an option", "node", "node --watch app.js", "app", NULL, NULL, NULL, "app.js" },
	{ "node's code", "node", "node -e console.log(1) x.js", NULL, NULL, NULL, NULL, "-e" },
	{ "two dashes end options", "node", "node -- -x.js", "-x", NULL, NULL, NULL, "-x.js" },
	{ "deno's task", "deno", "deno task dev", NULL, NULL, NULL, NULL, "task" },
	{ "a script named task", "deno", "deno run -A task", "task", NULL, NULL, NULL, "run" },
	{ "deno's options with words", "deno", "deno serve --port 80 -c deno.json --host ::1 main.ts", "main.ts", NULL, NULL, NULL, "serve" },
	{ "bun's options with words", "bun", "bun -u x --cwd /p server.ts", "server.ts", NULL, NULL, NULL, "server.ts" },
	{ "deno's run", "deno", "deno run -A main.ts", "main.ts", NULL, NULL, NULL, "run" },
	{ "bun's script", "bun", "bun run --hot server.ts", "server.ts", NULL, NULL, NULL, "run" },

	{ "php -S stays in sight", "php8.2", "php -d a=b -n -S localhost:8000", NULL, NULL, NULL, NULL, "-S" },
	{ "behind another letter", "php", "php -nS localhost:8000", NULL, NULL, NULL, NULL, "-nS" },
	{ "in its long form", "php", "php --server localhost:8000", NULL, NULL, NULL, NULL, "--server" },
	{ "php -f names the script", "php", "php -n -f artisan serve", "artisan", NULL, NULL, NULL, "-f" },
	{ "joined", "php", "php -fartisan serve", "artisan", NULL, NULL, NULL, "-fartisan" },
	{ "php --file too", "php", "php --file=/p/artisan serve", "artisan", NULL, NULL, NULL, "--file=/p/artisan" },
	{ "php's code", "php", "php -r echo(1); x.php", NULL, NULL, NULL, NULL, "-r" },
	{ "php-cgi is no php", "php-cgi", "php-cgi -S x", NULL, NULL, NULL, NULL, "-S" },
	{ "php's script", "php", "php -d a=b artisan serve", "artisan", NULL, NULL, NULL, "artisan" },
	{ "ruby", "ruby3.1", "ruby -I lib -r x bin/rails server", "rails", NULL, NULL, NULL, "bin/rails" },
	{ "ruby's warnings take the rest", "ruby3.1", "ruby -W:no-deprecated -Ke --enable yjit bin/rails s", "rails", NULL, NULL, NULL, "bin/rails" },
	{ "ruby's library and code", "ruby", "ruby -run -e httpd . -p 80", NULL, NULL, NULL, NULL, "-e" },
	{ "perl's modules take the rest", "perl", "perl -MPlack::Middleware -CIOE -d:Trace -I lib app.pl", "app.pl", NULL, NULL, NULL, "app.pl" },
	{ "perl's code behind other letters", "perl", "perl -lane print", NULL, NULL, NULL, NULL, "-lane" },
	{ "perl's debugger runs code too", "perl", "perl -de 0", NULL, NULL, NULL, NULL, "-de" },
	{ "java's file of options", "java", "java @args --add-opens a/b=c -jar /x/y.jar 1", NULL, NULL, NULL, "y.jar", "/x/y.jar" },
	{ "java's module", "java", "java --enable-native-access ALL -p /m -m mod/com.example.Main x", NULL, NULL, NULL, "com.example.Main", "mod/com.example.Main" },
	{ "java -jar without a jar", "java", "java -jar", NULL, NULL, NULL, NULL, NULL },
	{ "java without anything", "java", "java -version", NULL, NULL, NULL, NULL, NULL },
	{ "java's jar", "java", "java -Xmx1g -cp /a:/b -jar /opt/emulator-1.2.jar --port 1", NULL, NULL, NULL, "emulator-1.2.jar", "/opt/emulator-1.2.jar" },
	{ "java's class", "java", "java -cp /a com.example.Main x", NULL, NULL, NULL, "com.example.Main", "com.example.Main" },
	{ "a native program", "kubectl", "kubectl port-forward pod/x 1:1", NULL, NULL, NULL, NULL, "port-forward" },
	{ "no executable known: argv[0] tells", NULL, "/usr/bin/python3 -m http.server", NULL, NULL, "http.server", NULL, "-m" },
	{ "the executable counts, not argv[0]", "tail", "python3 -m http.server", NULL, NULL, NULL, NULL, "-m" },
	{ "busybox's applet is no script", "busybox", "busybox httpd -f", NULL, NULL, NULL, NULL, "httpd" },
	{ "nor one that is called by its name", "busybox", "httpd -f -p 80", NULL, NULL, NULL, NULL, "-f" },
	{ "busybox's shell", "busybox", "busybox sh /x/run.sh a", "run.sh", NULL, NULL, NULL, "/x/run.sh" },
	{ "a token of nothing", "node", "node \2 x.js", NULL, NULL, NULL, NULL, "" },
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
		cr_expect(first == rows[i].first || (first && rows[i].first && strcmp(first, rows[i].first) == 0), "%s: first argument %s, not %s",
			  rows[i].sentence, first ? first : "(none)", rows[i].first ? rows[i].first : "(none)");
		free((void *)argv.bytes);
	}
}

static const struct {
	const char *sentence, *argv;
	const char *exe;		/* NULL: bash */
	bool is_person, is_script;	/* with a terminal */
	bool is_script_without;
} shells[] = {
	{ "bash on a terminal", "bash", NULL, true, false, true },
	{ "F8: a login shell", "-bash", NULL, true, false, true },
	{ "bash -i", "bash -i", NULL, true, false, true },
	{ "options with words", "bash --rcfile x --init-file y -o vi", NULL, true, false, true },
	{ "bash -l --posix", "bash -l --posix", NULL, true, false, true },
	{ "a script", "bash dev.sh", NULL, false, true, true },
	{ "a script behind options", "bash -eo pipefail dev.sh", NULL, false, true, true },
	{ "a command", "bash -c x", NULL, false, false, false },
	{ "a command in joined letters", "bash -lc x", NULL, false, false, false },
	{ "interactive, but with a command", "bash -ic x", NULL, false, false, false },
	{ "a script behind --", "bash -- dev.sh", NULL, false, true, true },
	{ "arguments for its standard input", "bash -s a b", NULL, true, false, true },
	{ "and a command all the same", "bash -sc x", NULL, false, false, false },
	{ "arguments behind --", "bash -s -- a", NULL, true, false, true },
	{ "a dash ends the options", "bash -", NULL, true, false, true },
	{ "a script behind a dash", "bash - dev.sh", NULL, false, true, true },
	{ "a command behind a word of its token", "bash -oc pipefail x", NULL, false, false, false },
	{ "a word that is not the last letter's", "bash -oe pipefail dev.sh", NULL, false, true, true },
	{ "an option switched off", "bash +o history", NULL, true, false, true },
	{ "+c is no command", "bash +c", NULL, true, false, true },
	{ "zsh takes the word joined", "zsh -oextendedglob dev.sh", "zsh", false, true, true },
	{ "or not", "zsh -o extendedglob", "zsh", true, false, true },
	{ "whose c and s are no letters", "zsh -ocorrectall dev.sh", "zsh", false, true, true },
	{ "fish's first command", "fish -C x", "fish", true, false, true },
	{ "in its long form", "fish --init-command x", "fish", true, false, true },
	{ "fish's command", "fish --command=x", "fish", false, false, false },
	{ "tcsh", "-tcsh", "tcsh", true, false, true },
	{ "busybox called as a shell", "-sh", "busybox", true, false, true },
	{ "busybox told to be one", "busybox ash", "busybox", true, false, true },
	{ "with a script", "busybox sh dev.sh", "busybox", false, true, true },
	{ "with a command", "busybox sh -c x", "busybox", false, false, false },
	{ "another applet", "busybox tcpsvd 0 80", "busybox", false, false, false },
	{ "another applet by its name", "httpd -f", "busybox", false, false, false },
	{ "busybox alone", "busybox", "busybox", false, false, false },
	{ "no shell", "bashful", "bashful", false, false, false },
};

Test(program, a_shell_is_a_person_a_script_or_a_wrapper)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		struct argv argv = block(shells[i].argv);
		struct program program;

		program_identify(shells[i].exe ? shells[i].exe : "bash", "sh", &argv, &program);
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
		{ "cut within the joined module", "python3", "python3 -mhttp.ser", true },
		{ "cut before the module", "python3", "python3 -m", true },
		{ "cut within the script", "node", "node /p/node_modules/vi", true },
		{ "cut within php's file", "php", "php -f arti", true },
		{ "cut among options", "java", "java -cp /a:/b:/c", true },
		{ "cut within the jar", "java", "java -jar /a/b", true },
		{ "cut before the jar", "java", "java -jar", true },
		{ "cut within the main class", "java", "java com.exam", true },
		{ "cut behind it", "java", "java com.example.Main --po", false },
		{ "cut within code", "bash", "bash -c while\1true", false },
		{ "a dash may begin an option", "node", "node -", true },
		{ "cut within a shell's options", "bash", "bash -l", true },
		{ "cut before busybox says what it is", "busybox", "busybox", true },
		{ "cut within a name that is the only one", NULL, "/very/long/pa", true },
		{ "a native program has no script", "kubectl", "kubectl port-forw", false },
	};

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		struct argv argv = block(cut[i].argv);
		struct program program;

		argv.length--;		/* the NUL behind the last token is not of the record */
		argv.is_cut = true;
		program_identify(cut[i].exe, "comm", &argv, &program);
		cr_expect_eq(program.is_incomplete, cut[i].is_incomplete, "%s", cut[i].sentence);
		cr_expect_not(cut[i].is_incomplete && (program.is_inline || program.script.length || program.module.length || program.main.length),
			      "%s: named all the same", cut[i].sentence);
		cr_expect_not(cut[i].is_incomplete && (program_is_interactive_shell(&program, &argv, true) || program_is_script(&program, &argv, false)),
			      "%s: a shell of which kind?", cut[i].sentence);
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
		{ "the same jar", "java", "java -jar /a/x.jar 1", "java", "java -Xmx1g -jar /a/x.jar 2", true },
		{ "another class", "java", "java a.Main", "java", "java b.Main", false },
		{ "code on standard input", "bash", "bash -s a", "bash", "bash -s a", false },
		{ "no executable known, the same argv[0]", NULL, "nginx -g x", NULL, "/usr/sbin/nginx", true },
		{ "one is an interpreter by argv[0], the other is not", NULL, "python3 -m x", "python3", "python3 -m x", true },
		{ "nothing known of either", NULL, "", NULL, "", false },
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

Test(program, what_stands_behind_the_script)
{
	static const struct {
		const char *sentence, *exe, *argv, *behind;
	} behind[] = {
		{ "node's script", "node", "node -r x /x/tsx watch a.ts", "watch" },
		{ "python's module", "python3", "python3 -m flask run", "run" },
		{ "the joined module", "python3", "python3 -mflask run", "run" },
		{ "a jar", "java", "java -jar /x/y.jar go", "go" },
		{ "a class", "java", "java a.Main go", "go" },
		{ "php's file", "php", "php -fartisan serve", "serve" },
		{ "nothing", "node", "node /x/tsx", NULL },
		{ "no script", "kubectl", "kubectl port-forward", NULL },
		{ "code", "node", "node -e 1 x", NULL },
		{ "standard input", "python3", "python3 - x", NULL },
	};

	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		struct argv argv = block(behind[i].argv);
		struct program program;
		const char *found;

		program_identify(behind[i].exe, "", &argv, &program);
		found = program_script_argument(&program, &argv);
		cr_expect(found == behind[i].behind || (found && behind[i].behind && strcmp(found, behind[i].behind) == 0), "%s: %s",
			  behind[i].sentence, found ? found : "(none)");
		free((void *)argv.bytes);
	}
}

Test(program, an_argv_that_was_missed_says_nothing)
{
	struct argv missed = { .is_known = false };
	struct program program;
	struct span facets[7];

	program_identify("bash", "bash", &missed, &program);
	cr_expect(program.is_incomplete);
	cr_expect_not(program_is_interactive_shell(&program, &missed, true));
	cr_expect_not(program_is_script(&program, &missed, false));
	cr_expect_null(program_first_argument(&program, &missed));
	cr_expect_eq(program_facets(&program, facets), 1);
	program_identify(NULL, NULL, &missed, &program);
	cr_expect(program.is_incomplete);
	cr_expect_eq(program_facets(&program, facets), 0);
}

/* Each cut of each row: nothing is read that is not there (ASan), and nothing is named otherwise than by the whole. */
Test(program, a_beginning_never_names_another_program)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct argv whole = block(rows[i].argv);
		struct program all;

		program_identify(rows[i].exe, "comm", &whole, &all);
		for (size_t length = 1; length < whole.length; length++) {
			char *bytes = malloc(length + 1);
			struct argv argv = { .bytes = bytes, .length = length, .is_cut = true, .is_known = true };
			struct program program;

			memcpy(bytes, whole.bytes, length);
			bytes[length] = '\0';
			program_identify(rows[i].exe, "comm", &argv, &program);
			if (!program.is_incomplete) {
				cr_expect_eq(program.interpreter, all.interpreter, "%s, %zu bytes", rows[i].sentence, length);
				cr_expect(program.script.length == all.script.length && program.module.length == all.module.length &&
					  program.main.length == all.main.length && program.is_inline == all.is_inline, "%s, %zu bytes",
					  rows[i].sentence, length);
			}
			program_first_argument(&program, &argv);
			program_script_argument(&program, &argv);
			free(bytes);
		}
		free((void *)whole.bytes);
	}
}

Test(program, a_name_too_long_matches_nothing)
{
	char *name = malloc(5000);

	memset(name, 'a', 5000);
	cr_expect_not(span_matches((struct span){ name, 5000 }, "*"));
	cr_expect_not(span_matches((struct span){ name, 4097 }, "*"));
	cr_expect(span_matches((struct span){ name, 4096 }, "a*"));
	cr_expect_not(span_matches((struct span){ 0 }, "*"));
	free(name);
}

Test(program, f8_a_dash_in_front_is_no_part_of_the_name)
{
	static const struct {
		const char *sentence, *exe, *argv;
		enum interpreter interpreter;
		const char *argv0;
	} dashes[] = {
		{ "F8: a login shell", "bash", "-bash", INTERPRETER_SHELL, "bash" },
		{ "F8: as the report has it", "python3.11", "-python3 -m http.server", INTERPRETER_PYTHON, "python3" },
		{ "no executable known", NULL, "-bash", INTERPRETER_SHELL, "bash" },
		{ "in front of a path", NULL, "-/bin/bash", INTERPRETER_SHELL, "bash" },
		{ "behind a path", NULL, "/bin/-bash", INTERPRETER_SHELL, "bash" },
		{ "two of them", NULL, "--help", INTERPRETER_NONE, "-help" },
		{ "nothing but a dash", NULL, "-", INTERPRETER_NONE, "-" },
		{ "nothing behind the slash", NULL, "/bin/", INTERPRETER_NONE, NULL },
		{ "no dash", NULL, "bash", INTERPRETER_SHELL, "bash" },
	};

	for (size_t i = 0; i < sizeof(dashes) / sizeof(dashes[0]); i++) {
		struct argv argv = block(dashes[i].argv);
		struct program program;

		program_identify(dashes[i].exe, NULL, &argv, &program);
		cr_expect_eq(program.interpreter, dashes[i].interpreter, "%s", dashes[i].sentence);
		expect(dashes[i].sentence, "argv[0]", program.argv0, dashes[i].argv0);
		free((void *)argv.bytes);
	}
}
