/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shipped config against the command lines of real programs: every signature family of the field reports (S01 to S26) with what
 * it must know and what looks like it and is not; who is who for the walk; what is protected.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "../../user/observe/config.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define FAMILIES 26
#define SPAWN "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5, pipe_handle=7)"

struct command {
	const char *exe;
	const char *argv[20];
};

struct row {
	int family;
	const char *what;
	const char *rule;		/* first that matches; NULL: none */
	struct command command;
	struct command parent;		/* birth parent; exe NULL: a shell */
	const char *environment;	/* one NAME=VALUE */
	enum keeper anchor;		/* KEEPER_NONE: an agent that has ended, the usual case; else that kind */
};

#define PYTHON "python3.11"

static const struct row rows[] = {
	/* S01 python's static servers */
	{ 1, "module and port", "python-http-server", { PYTHON, { "python3", "-m", "http.server", "8000" } }, { 0 }, NULL, 0 },
	{ 1, "nothing behind the module", "python-http-server", { PYTHON, { "/usr/bin/python3", "-m", "http.server" } }, { 0 }, NULL, 0 },
	{ 1, "joined", "python-http-server", { PYTHON, { "python3", "-mhttp.server", "8000" } }, { 0 }, NULL, 0 },
	{ 1, "options joined to -m", "python-http-server", { PYTHON, { "python3", "-Bum", "http.server", "8000" } }, { 0 }, NULL, 0 },
	{ 1, "interpreter options first", "python-http-server", { PYTHON, { "python3", "-u", "-B", "-W", "ignore", "-X", "dev", "-m", "http.server", "--bind", "127.0.0.1" } }, { 0 }, NULL, 0 },
	{ 1, "python 2", "python-http-server", { "python2.7", { "python", "-m", "SimpleHTTPServer", "8000" } }, { 0 }, NULL, 0 },
	{ 1, "pypy, ftp", "python-http-server", { "pypy3.9", { "pypy3", "-m", "pyftpdlib", "-w" } }, { 0 }, NULL, 0 },
	{ 1, "argv[0] with a leading dash", "python-http-server", { PYTHON, { "-python3", "-m", "http.server", "8000" } }, { 0 }, NULL, 0 },
	{ 1, "argv[0] lies", "python-http-server", { PYTHON, { "my-service", "-m", "http.server" } }, { 0 }, NULL, 0 },
	{ 1, "env -S script: the script's path behind the module", "python-http-server", { PYTHON, { "python3", "-m", "http.server", "./serve-docs" } }, { 0 }, NULL, 0 },
	{ 1, "the module's name is a script's argument", NULL, { PYTHON, { "python3", "app.py", "-m", "http.server" } }, { 0 }, NULL, 0 },
	{ 1, "the module's name within code", NULL, { PYTHON, { "python3", "-c", "import x # -m http.server", "-m", "http.server" } }, { 0 }, NULL, 0 },
	{ 1, "another module that begins alike", NULL, { PYTHON, { "python3", "-m", "http.server_extra" } }, { 0 }, NULL, 0 },
	{ 1, "the word is an option's", NULL, { PYTHON, { "python3", "-X", "http.server", "-m", "mypackage" } }, { 0 }, NULL, 0 },
	{ 1, "tail of a log", NULL, { "tail", { "tail", "-F", "http-server.log" } }, { 0 }, NULL, 0 },
	{ 1, "grep", NULL, { "grep", { "grep", "-r", "-m", "http.server", "." } }, { 0 }, NULL, 0 },
	{ 1, "editor", NULL, { "vim.basic", { "vim", "http-reap.sh", "-m", "http.server" } }, { 0 }, NULL, 0 },
	{ 1, "agent with the words in its prompt", NULL, { "node", { "node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", "-p", "run python3 -m http.server" } }, { 0 }, NULL, 0 },
	{ 1, "shell with the words in its command", NULL, { "bash", { "bash", "-c", "python3 -m http.server 8000" } }, { 0 }, NULL, 0 },
	{ 1, "argv[0] says python", NULL, { "myserver", { "python3", "-m", "http.server" } }, { 0 }, NULL, 0 },

	/* S02 php -S */
	{ 2, "address", "php-server", { "php8.2", { "php", "-S", "localhost:8000" } }, { 0 }, NULL, 0 },
	{ 2, "joined", "php-server", { "php", { "php", "-Slocalhost:8000" } }, { 0 }, NULL, 0 },
	{ 2, "options first", "php-server", { "php8.2", { "php", "-n", "-d", "display_errors=1", "-S", "127.0.0.1:8000", "-t", "public", "server.php" } }, { 0 }, NULL, 0 },
	{ 2, "document root first", "php-server", { "php8.2", { "php", "-t", "public", "-S", "0.0.0.0:8000" } }, { 0 }, NULL, 0 },
	{ 2, "child of artisan serve", "php-server", { "php8.2", { "/usr/bin/php8.2", "-S", "127.0.0.1:8000", "/app/vendor/laravel/framework/src/Illuminate/Foundation/resources/server.php" } }, { "php8.2", { "php", "artisan", "serve" } }, NULL, 0 },
	{ 2, "-S is a script's", NULL, { "php8.2", { "php", "worker.php", "-S", "localhost:8000" } }, { 0 }, NULL, 0 },
	{ 2, "php-fpm", NULL, { "php-fpm8.2", { "php-fpm: master process (/etc/php/8.2/fpm/php-fpm.conf)" } }, { 0 }, NULL, 0 },
	{ 2, "php-cgi", NULL, { "php-cgi", { "php-cgi", "-S", "localhost:9000" } }, { 0 }, NULL, 0 },
	{ 2, "grep", NULL, { "grep", { "grep", "-r", "php -S", "." } }, { 0 }, NULL, 0 },

	/* S03 node's static servers */
	{ 3, "global http-server", "node-static-server", { "node", { "node", "/usr/bin/http-server", "-p", "8080" } }, { 0 }, NULL, 0 },
	{ 3, "http-server's file", "node-static-server", { "node", { "node", "/usr/lib/node_modules/http-server/bin/http-server" } }, { 0 }, NULL, 0 },
	{ 3, "npx http-server", "node-static-server", { "node", { "node", "/root/.npm/_npx/ab/node_modules/.bin/http-server", "." } }, { 0 }, NULL, 0 },
	{ 3, "node options with a word", "node-static-server", { "node", { "node", "--max-old-space-size=512", "-r", "dotenv/config", "node_modules/.bin/live-server" } }, { 0 }, NULL, 0 },
	{ 3, "npx serve", "node-serve", { "node", { "node", "/home/u/.npm/_npx/ab/node_modules/.bin/serve", "-l", "3000" } }, { 0 }, NULL, 0 },
	{ 3, "global serve", "node-serve", { "node", { "node", "/usr/local/bin/serve", "dist" } }, { 0 }, NULL, 0 },
	{ 3, "pnpm's serve", "node-serve", { "node", { "node", "/p/node_modules/.pnpm/serve@14.2.1/node_modules/serve/build/main.js" } }, { 0 }, NULL, 0 },
	{ 3, "a node that titles itself later", "node-static-server", { "node", { "node", "/opt/x/node_modules/lite-server/bin/lite-server" } }, { 0 }, NULL, 0 },
	{ 3, "nvm's serve", "node-serve", { "node", { "node", "/home/u/.nvm/versions/node/v20.20.2/bin/serve" } }, { 0 }, NULL, 0 },
	{ 3, "a project's own bin/serve", NULL, { "node", { "node", "./bin/serve" } }, { 0 }, NULL, 0 },
	{ 3, "a project's own serve.js", NULL, { "node", { "node", "scripts/serve.js" } }, { 0 }, NULL, 0 },
	{ 3, "http-server is an argument", NULL, { "node", { "node", "app.js", "http-server" } }, { 0 }, NULL, 0 },
	{ 3, "the agent's own node beside it", NULL, { "node", { "node", "/usr/lib/node_modules/@openai/codex/bin/codex.js", "start http-server" } }, { 0 }, NULL, 0 },
	{ 3, "tail of its log", NULL, { "tail", { "tail", "-F", "http-server.log" } }, { 0 }, NULL, 0 },
	{ 3, "a folder of that name", NULL, { "node", { "node", "/srv/http-server/index.js" } }, { 0 }, NULL, 0 },

	/* S04 vite and its kin */
	{ 4, "vite alone", "vite", { "node", { "node", "/p/node_modules/.bin/vite" } }, { 0 }, NULL, 0 },
	{ 4, "vite's file with options", "vite", { "node", { "node", "/p/node_modules/vite/bin/vite.js", "--host", "--port", "5173" } }, { 0 }, NULL, 0 },
	{ 4, "preview", "vite", { "node", { "node", "node_modules/.bin/vite", "preview" } }, { 0 }, NULL, 0 },
	{ 4, "vitepress dev", "vite", { "node", { "node", "/p/node_modules/.bin/vitepress", "dev", "docs" } }, { 0 }, NULL, 0 },
	{ 4, "astro dev", "vite-based", { "node", { "node", "/p/node_modules/.bin/astro", "dev" } }, { 0 }, NULL, 0 },
	{ 4, "rspress by its file with .js", "vite-based", { "node", { "node", "/p/node_modules/@rspress/core/bin/rspress.js", "dev" } }, { 0 }, NULL, 0 },
	{ 4, "vite on bun", "vite", { "bun", { "bun", "/p/node_modules/.bin/vite" } }, { 0 }, NULL, 0 },
	{ 4, "vite on deno", "vite", { "deno", { "deno", "run", "-A", "npm:vite", "--host" } }, { 0 }, NULL, 0 },
	{ 4, "vite build", NULL, { "node", { "node", "/p/node_modules/.bin/vite", "build", "--watch" } }, { 0 }, NULL, 0 },
	{ 4, "astro build", NULL, { "node", { "node", "/p/node_modules/.bin/astro", "build" } }, { 0 }, NULL, 0 },
	{ 4, "vitest", NULL, { "node", { "node", "/p/node_modules/.bin/vitest", "--ui" } }, { 0 }, NULL, 0 },
	{ 4, "a program in a project named vite", NULL, { "node", { "node", "/home/u/vite/server.js", "dev" } }, { 0 }, NULL, 0 },
	{ 4, "editor on its config", NULL, { "nvim", { "nvim", "vite.config.ts" } }, { 0 }, NULL, 0 },

	/* S05 next */
	{ 5, "next dev", "next-dev", { "node", { "node", "/p/node_modules/.bin/next", "dev" } }, { 0 }, NULL, 0 },
	{ 5, "next dev by its file", "next-dev", { "node", { "node", "/p/node_modules/next/dist/bin/next", "dev", "--turbopack", "-p", "3001" } }, { 0 }, NULL, 0 },
	{ 5, "no subcommand", "next-dev", { "node", { "node", "/p/node_modules/.bin/next", "-p", "3001" } }, { 0 }, NULL, 0 },
	{ 5, "the child that titles itself next-server", "next-dev", { "node", { "/usr/bin/node", "/p/node_modules/next/dist/server/lib/start-server.js" } }, { "node", { "node", "/p/node_modules/.bin/next", "dev" } }, NULL, 0 },
	{ 5, "next start only reports", "next-start", { "node", { "node", "/p/node_modules/.bin/next", "start" } }, { 0 }, NULL, 0 },
	{ 5, "a folder named next", NULL, { "node", { "node", "/srv/next" } }, { 0 }, NULL, 0 },
	{ 5, "next build", NULL, { "node", { "node", "/p/node_modules/.bin/next", "build" } }, { 0 }, NULL, 0 },
	{ 5, "a server that titles itself next-server", NULL, { "node", { "node", "n2.js" } }, { 0 }, NULL, 0 },
	{ 5, "next as a word", NULL, { "node", { "node", "app.js", "next", "dev" } }, { 0 }, NULL, 0 },

	/* S06 bundlers */
	{ 6, "webpack serve", "bundler-serve", { "node", { "node", "/p/node_modules/.bin/webpack", "serve", "--open" } }, { 0 }, NULL, 0 },
	{ 6, "webpack-dev-server", "bundler-server", { "node", { "node", "/p/node_modules/.bin/webpack-dev-server" } }, { 0 }, NULL, 0 },
	{ 6, "ng serve", "bundler-serve", { "node", { "node", "/p/node_modules/@angular/cli/bin/ng.js", "serve" } }, { 0 }, NULL, 0 },
	{ 6, "react-scripts start", "react-scripts", { "node", { "node", "/p/node_modules/.bin/react-scripts", "start" } }, { 0 }, NULL, 0 },
	{ 6, "what react-scripts starts", "react-scripts", { "node", { "/usr/bin/node", "/p/node_modules/react-scripts/scripts/start.js" } }, { 0 }, NULL, 0 },
	{ 6, "storybook", "bundler-dev", { "node", { "node", "/p/node_modules/.bin/storybook", "dev", "-p", "6006" } }, { 0 }, NULL, 0 },
	{ 6, "nuxt", "bundler-dev", { "node", { "node", "/p/node_modules/.bin/nuxt", "dev" } }, { 0 }, NULL, 0 },
	{ 6, "gatsby", "gatsby", { "node", { "node", "/p/node_modules/.bin/gatsby", "develop" } }, { 0 }, NULL, 0 },
	{ 6, "docusaurus", "bundler-start", { "node", { "node", "/p/node_modules/.bin/docusaurus", "start" } }, { 0 }, NULL, 0 },
	{ 6, "parcel alone", "parcel", { "node", { "node", "/p/node_modules/.bin/parcel", "index.html" } }, { 0 }, NULL, 0 },
	{ 6, "expo", "bundler-start", { "node", { "node", "/p/node_modules/.bin/expo", "start" } }, { 0 }, NULL, 0 },
	{ 6, "esbuild", "esbuild", { "esbuild", { "/p/node_modules/.bin/esbuild", "app.ts", "--bundle", "--servedir=www" } }, { 0 }, NULL, 0 },
	{ 6, "webpack --watch", NULL, { "node", { "node", "/p/node_modules/.bin/webpack", "--watch" } }, { 0 }, NULL, 0 },
	{ 6, "esbuild as a service", NULL, { "esbuild", { "esbuild", "--service=0.19.2", "--ping" } }, { 0 }, NULL, 0 },
	{ 6, "ng test", NULL, { "node", { "node", "/p/node_modules/.bin/ng", "test" } }, { 0 }, NULL, 0 },
	{ 6, "a start.js of somebody's own", NULL, { "node", { "node", "scripts/start.js" } }, { 0 }, NULL, 0 },
	{ 6, "react-scripts build", NULL, { "node", { "node", "/p/node_modules/.bin/react-scripts", "build" } }, { 0 }, NULL, 0 },

	/* S07 what a watcher runs */
	{ 7, "below nodemon", "watched", { "node", { "node", "main.js" } }, { "node", { "node", "/p/node_modules/.bin/nodemon", "main.js" } }, NULL, 0 },
	{ 7, "below watchexec", "watched", { PYTHON, { "python3", "app.py" } }, { "watchexec", { "watchexec", "-r", "python3", "app.py" } }, NULL, 0 },
	{ 7, "below tsx watch", "watched", { "node", { "/usr/bin/node", "--import", "file:///p/node_modules/tsx/dist/loader.mjs", "server.ts" } }, { "node", { "node", "/p/node_modules/.bin/tsx", "watch", "server.ts" } }, NULL, 0 },
	{ 7, "below ts-node-dev", "watched", { "node", { "node", "/p/node_modules/ts-node-dev/lib/wrap.js", "src/index.ts" } }, { "node", { "node", "/p/node_modules/.bin/ts-node-dev", "src/index.ts" } }, NULL, 0 },
	{ 7, "of node --watch", "node-watch", { "node", { "node", "server.js" } }, { "node", { "node", "--watch", "server.js" } }, "WATCH_REPORT_DEPENDENCIES=1", 0 },
	{ 7, "the same program below a shell", NULL, { "node", { "node", "main.js" } }, { "bash", { "bash" } }, NULL, 0 },
	{ 7, "a script that talks of nodemon", NULL, { "node", { "node", "main.js", "nodemon" } }, { "node", { "node", "cli.js", "nodemon" } }, NULL, 0 },
	{ 7, "an editor below entr", NULL, { "vim.basic", { "vim", "main.js" } }, { "entr", { "entr", "vim" } }, NULL, 0 },
	{ 7, "another program below node --watch", NULL, { "java", { "java", "-jar", "app.jar" } }, { "node", { "node", "--watch", "x.js" } }, "WATCH_REPORT_DEPENDENCIES=1", 0 },

	/* S08 ASGI servers */
	{ 8, "uvicorn --reload", "uvicorn-reload", { PYTHON, { "python3", "-m", "uvicorn", "app:app", "--reload" } }, { 0 }, NULL, 0 },
	{ 8, "its script", "uvicorn-reload", { PYTHON, { "/v/bin/python3", "/v/bin/uvicorn", "--reload", "app:app" } }, { 0 }, NULL, 0 },
	{ 8, "the worker lost the word", "uvicorn-reload", { PYTHON, { "/usr/bin/python3", "-B", "-c", SPAWN, "--multiprocessing-fork" } }, { PYTHON, { "python3", "-m", "uvicorn", "--reload", "asgi:app" } }, NULL, 0 },
	{ 8, "fastapi dev", "fastapi-dev", { PYTHON, { "/v/bin/python", "/v/bin/fastapi", "dev", "main.py" } }, { 0 }, NULL, 0 },
	{ 8, "hypercorn --reload", "uvicorn-reload", { PYTHON, { "python3", "/v/bin/hypercorn", "--reload", "app" } }, { 0 }, NULL, 0 },
	{ 8, "uvicorn without --reload only reports", "asgi-server", { PYTHON, { "python3", "-m", "uvicorn", "app:app" } }, { 0 }, NULL, 0 },
	{ 8, "its worker as well", "asgi-server", { PYTHON, { "python3", "-c", SPAWN, "--multiprocessing-fork" } }, { PYTHON, { "python3", "/v/bin/uvicorn", "app:app", "--workers", "4" } }, NULL, 0 },
	{ 8, "fastapi run only reports", "asgi-server", { PYTHON, { "python3", "/v/bin/fastapi", "run" } }, { 0 }, NULL, 0 },
	{ 8, "daphne only reports", "asgi-server", { PYTHON, { "python3", "/v/bin/daphne", "app:app" } }, { 0 }, NULL, 0 },
	{ 8, "a worker of something else", NULL, { PYTHON, { "python3", "-c", SPAWN, "--multiprocessing-fork" } }, { PYTHON, { "python3", "train.py" } }, NULL, 0 },
	{ 8, "a module that begins alike", NULL, { PYTHON, { "python3", "-m", "uvicorn_extra", "--reload" } }, { 0 }, NULL, 0 },
	{ 8, "uvicorn as a word", NULL, { PYTHON, { "python3", "app.py", "uvicorn", "--reload" } }, { 0 }, NULL, 0 },

	/* S09 flask */
	{ 9, "flask run", "flask", { PYTHON, { "python3", "-m", "flask", "run" } }, { 0 }, NULL, 0 },
	{ 9, "options before run", "flask", { PYTHON, { "python3", "-m", "flask", "--app", "app", "--debug", "run", "-p", "5001" } }, { 0 }, NULL, 0 },
	{ 9, "its script", "flask", { PYTHON, { "/v/bin/python3", "/v/bin/flask", "run" } }, { 0 }, NULL, 0 },
	{ 9, "app.run(debug=True): the reloader's child", "werkzeug", { PYTHON, { "python3", "app.py" } }, { PYTHON, { "python3", "app.py" } }, "WERKZEUG_RUN_MAIN=true", 0 },
	{ 9, "flask shell", NULL, { PYTHON, { "python3", "-m", "flask", "shell" } }, { 0 }, NULL, 0 },
	{ 9, "app.py without a reloader", NULL, { PYTHON, { "python3", "app.py" } }, { 0 }, "HOME=/root", 0 },
	{ 9, "another script named like it", NULL, { PYTHON, { "python3", "flask_tool.py", "run" } }, { 0 }, NULL, 0 },
	{ 9, "the variable on another program", NULL, { "nginx", { "nginx" } }, { 0 }, "WERKZEUG_RUN_MAIN=true", 0 },

	/* S10 django */
	{ 10, "runserver", "django", { PYTHON, { "python3", "manage.py", "runserver" } }, { 0 }, NULL, 0 },
	{ 10, "with a path and options", "django", { PYTHON, { "python", "-u", "/app/manage.py", "runserver_plus", "0.0.0.0:8000" } }, { 0 }, NULL, 0 },
	{ 10, "django-admin", "django", { PYTHON, { "/v/bin/python", "/v/bin/django-admin", "testserver", "x.json" } }, { 0 }, NULL, 0 },
	{ 10, "as a module", "django-module", { PYTHON, { "python3", "-m", "django", "runserver", "8001" } }, { 0 }, NULL, 0 },
	{ 10, "migrate", NULL, { PYTHON, { "python3", "manage.py", "migrate" } }, { 0 }, NULL, 0 },
	{ 10, "runserver further back", NULL, { PYTHON, { "python3", "manage.py", "help", "runserver" } }, { 0 }, NULL, 0 },
	{ 10, "another script", NULL, { PYTHON, { "python3", "my_manage.py", "runserver" } }, { 0 }, NULL, 0 },

	/* S11 ruby: only reports */
	{ 11, "rails server", "rails", { "ruby3.1", { "ruby", "bin/rails", "server" } }, { 0 }, NULL, 0 },
	{ 11, "rails s", "rails", { "ruby", { "ruby", "/app/bin/rails", "s", "-p", "3001" } }, { 0 }, NULL, 0 },
	{ 11, "jekyll", "jekyll", { "ruby3.1", { "ruby", "/usr/bin/jekyll", "serve" } }, { 0 }, NULL, 0 },
	{ 11, "-run -e httpd", "ruby-httpd", { "ruby3.1", { "ruby", "-run", "-e", "httpd", ".", "-p", "8000" } }, { 0 }, NULL, 0 },
	{ 11, "rails console", NULL, { "ruby3.1", { "ruby", "bin/rails", "console" } }, { 0 }, NULL, 0 },
	{ 11, "jekyll build", NULL, { "ruby3.1", { "ruby", "/usr/bin/jekyll", "build" } }, { 0 }, NULL, 0 },
	{ 11, "rails as a word", NULL, { "ruby3.1", { "ruby", "worker.rb", "rails", "server" } }, { 0 }, NULL, 0 },

	/* S12 app servers: only report */
	{ 12, "gunicorn", "wsgi-server", { PYTHON, { "/v/bin/python3", "/v/bin/gunicorn", "-b", "127.0.0.1:9999", "app:app" } }, { 0 }, NULL, 0 },
	{ 12, "gunicorn as a module", "wsgi-server", { PYTHON, { "python3", "-m", "gunicorn", "app:app" } }, { 0 }, NULL, 0 },
	{ 12, "puma", "ruby-server", { "ruby3.1", { "ruby", "/usr/bin/puma", "-C", "config/puma.rb" } }, { 0 }, NULL, 0 },
	{ 12, "waitress", "wsgi-server", { PYTHON, { "python3", "/v/bin/waitress-serve", "app:app" } }, { 0 }, NULL, 0 },
	{ 12, "a WSGI server of somebody's own", NULL, { PYTHON, { "python3", "wsgi.py", "gunicorn" } }, { 0 }, NULL, 0 },
	{ 12, "pip", NULL, { PYTHON, { "python3", "-m", "pip", "install", "gunicorn" } }, { 0 }, NULL, 0 },
	{ 12, "gunicorn's config in an editor", NULL, { "nano", { "nano", "gunicorn.conf.py" } }, { 0 }, NULL, 0 },

	/* S13 automation browsers */
	{ 13, "puppeteer", "headless-browser", { "chrome", { "/root/.cache/puppeteer/chrome/linux-1/chrome-linux64/chrome", "--allow-pre-commit-input", "--enable-automation", "--headless=new", "--remote-debugging-port=0", "--user-data-dir=/tmp/puppeteer_dev_chrome_profile-ab" } }, { 0 }, NULL, 0 },
	{ 13, "playwright-mcp, with a window", "automation-browser", { "chrome", { "/opt/google/chrome/chrome", "--enable-automation", "--remote-debugging-port=9222", "--user-data-dir=/root/.cache/ms-playwright/mcp-chrome-1" } }, { 0 }, NULL, 0 },
	{ 13, "agent-browser, other order", "headless-browser", { "chromium", { "/usr/lib/chromium/chromium", "--user-data-dir=/tmp/agent-browser-chrome-x", "--remote-debugging-port=33268", "--headless" } }, { 0 }, NULL, 0 },
	{ 13, "headless shell", "headless-browser", { "headless_shell", { "headless_shell", "--headless", "--remote-debugging-port=0", "--user-data-dir=/tmp/playwright_chromiumdev_profile-y", "about:blank" } }, { 0 }, NULL, 0 },
	{ 13, "a daemon's headless one for 31 hours", "headless-browser", { "chromium", { "/usr/lib/chromium/chromium", "--remote-debugging-port=9222", "--user-data-dir=/root/.monomind/monomind-browser-9222", "--headless=new" } }, { 0 }, NULL, 0 },
	{ 13, "a shared profile only reports", "debugged-browser", { "chrome", { "chrome", "--remote-debugging-port=9333", "--user-data-dir=/home/u/.config/shared-chrome" } }, { 0 }, NULL, 0 },
	{ 13, "headless, but the user's profile", "debugged-browser", { "chrome", { "chrome", "--headless=new", "--remote-debugging-port=9222", "--user-data-dir=/home/u/.config/google-chrome" } }, { 0 }, NULL, 0 },
	{ 13, "its helper", NULL, { "chrome", { "chrome", "--type=renderer", "--headless=new", "--remote-debugging-port=0", "--user-data-dir=/tmp/puppeteer_dev_chrome_profile-ab" } }, { 0 }, NULL, 0 },
	{ 13, "the user's browser", NULL, { "chrome", { "/opt/google/chrome/chrome", "http://localhost:8000/--headless" } }, { 0 }, NULL, 0 },
	{ 13, "flatpak's zygote", NULL, { "bwrap", { "bwrap", "--args", "40", "/app/chromium/chrome", "--type=zygote", "--headless" } }, { 0 }, NULL, 0 },

	/* S14 webdrivers */
	{ 14, "joined", "webdriver", { "chromedriver", { "/usr/bin/chromedriver", "--port=9515" } }, { 0 }, NULL, 0 },
	{ 14, "separate", "webdriver", { "geckodriver", { "geckodriver", "--host", "127.0.0.1", "--port", "4444" } }, { 0 }, NULL, 0 },
	{ 14, "edge", "webdriver", { "msedgedriver", { "msedgedriver", "--verbose", "--port=17556" } }, { 0 }, NULL, 0 },
	{ 14, "asked for its version", NULL, { "chromedriver", { "chromedriver", "--version" } }, { 0 }, NULL, 0 },
	{ 14, "another program", NULL, { "node", { "node", "chromedriver-proxy.js", "--port=9515" } }, { 0 }, NULL, 0 },
	{ 14, "an editor", NULL, { "emacs-gtk", { "emacs", "chromedriver", "--port=1" } }, { 0 }, NULL, 0 },

	/* S15 playwright's servers */
	{ 15, "run-server", "playwright-server", { "node", { "node", "/p/node_modules/.bin/playwright", "run-server", "--port", "4000" } }, { 0 }, NULL, 0 },
	{ 15, "playwright-core by its file", "playwright-server", { "node", { "node", "/p/node_modules/playwright-core/cli.js", "launch-server" } }, { 0 }, NULL, 0 },
	{ 15, "mcp with a port", "browser-mcp", { "node", { "node", "/p/node_modules/@playwright/mcp/cli.js", "--port", "8931" } }, { 0 }, NULL, 0 },
	{ 15, "chrome-devtools-mcp with a port", "browser-mcp", { "node", { "node", "/r/.npm/_npx/x/node_modules/.bin/chrome-devtools-mcp", "--port=9000" } }, { 0 }, NULL, 0 },
	{ 15, "playwright test", NULL, { "node", { "node", "/p/node_modules/.bin/playwright", "test" } }, { 0 }, NULL, 0 },
	{ 15, "mcp over its standard input", NULL, { "node", { "node", "/p/node_modules/@playwright/mcp/cli.js", "--isolated" } }, { 0 }, NULL, 0 },
	{ 15, "a script of that name in a folder", NULL, { "node", { "node", "/p/playwright/server.js", "run-server" } }, { 0 }, NULL, 0 },

	/* S16 MCP servers */
	{ 16, "of an agent that has ended", "mcp-server-of-agent", { "node", { "node", "/r/.npm/_npx/x/node_modules/.bin/mcp-remote", "https://x.example/sse" } }, { 0 }, NULL, 0 },
	{ 16, "python's", "mcp-server-of-agent", { PYTHON, { "/v/bin/python", "/v/bin/workspace-mcp", "--transport", "streamable-http" } }, { 0 }, NULL, 0 },
	{ 16, "serena", "serena-of-agent", { PYTHON, { "/v/bin/python3", "/v/bin/serena", "start-mcp-server", "--transport", "sse" } }, { 0 }, NULL, 0 },
	{ 16, "below a person only reports", "mcp-server", { "node", { "node", "/p/node_modules/.bin/mcp-remote", "https://x.example/sse" } }, { 0 }, NULL, KEEPER_PERSON },
	{ 16, "serena below cron only reports", "serena", { PYTHON, { "python3", "/v/bin/serena", "start-mcp-server" } }, { 0 }, NULL, KEEPER_MANAGER },
	{ 16, "a generic server", NULL, { PYTHON, { "python3", "main.py", "--transport", "stdio" } }, { 0 }, NULL, 0 },
	{ 16, "the name as an argument", NULL, { "node", { "node", "index.js", "mcp-remote" } }, { 0 }, NULL, 0 },
	{ 16, "an agent that was told of it", NULL, { "claude", { "claude", "-p", "restart mcp-remote" } }, { 0 }, NULL, 0 },

	/* S17 agents' backends: only report */
	{ 17, "opencode serve", "agent-backend", { "opencode", { "opencode", "serve", "--port", "0" } }, { 0 }, NULL, 0 },
	{ 17, "codex app-server", "agent-backend", { "codex", { "codex", "app-server" } }, { 0 }, NULL, 0 },
	{ 17, "claude-ssh", "agent-backend", { "claude-ssh", { "claude-ssh", "--serve" } }, { 0 }, NULL, 0 },
	{ 17, "codex exec", NULL, { "codex", { "codex", "exec", "start app-server" } }, { 0 }, NULL, 0 },
	{ 17, "opencode alone", NULL, { "opencode", { "opencode" } }, { 0 }, NULL, 0 },
	{ 17, "another program's serve", NULL, { "hugo", { "hugo", "serve" } }, { 0 }, NULL, 0 },

	/* S18 kubectl */
	{ 18, "port-forward", "kubectl-port-forward", { "kubectl", { "kubectl", "port-forward", "pod/x", "8888:8888" } }, { 0 }, NULL, 0 },
	{ 18, "options first", "kubectl-port-forward", { "kubectl", { "kubectl", "-n", "ns", "port-forward", "svc/x", "8080:80" } }, { 0 }, NULL, 0 },
	{ 18, "oc", "kubectl-port-forward", { "oc", { "oc", "--namespace=x", "port-forward", "pod", "1:1" } }, { 0 }, NULL, 0 },
	{ 18, "proxy", NULL, { "kubectl", { "kubectl", "proxy" } }, { 0 }, NULL, 0 },
	{ 18, "the word to another command", NULL, { "kubectl", { "kubectl", "explain", "a", "b", "c", "port-forward" } }, { 0 }, NULL, 0 },
	{ 18, "another program", NULL, { "stern", { "stern", "port-forward" } }, { 0 }, NULL, 0 },

	/* S19 ssh forwards */
	{ 19, "of an agent that has ended", "ssh-forward-of-agent", { "ssh", { "ssh", "-N", "-L", "127.0.0.1:8080:localhost:80", "host" } }, { 0 }, NULL, 0 },
	{ 19, "flags in one", "ssh-forward-of-agent", { "ssh", { "ssh", "-fNT", "-D1080", "host" } }, { 0 }, NULL, 0 },
	{ 19, "all in one", "ssh-forward-of-agent", { "ssh", { "ssh", "-qfNL", "8080:localhost:80", "host" } }, { 0 }, NULL, 0 },
	{ 19, "below a person only reports", "ssh-forward", { "ssh", { "ssh", "-f", "-N", "-L", "8080:localhost:80", "host" } }, { 0 }, NULL, KEEPER_PERSON },
	{ 19, "below a manager only reports", "ssh-forward", { "ssh", { "ssh", "-N", "-L", "8080:localhost:80", "host" } }, { 0 }, NULL, KEEPER_MANAGER },
	{ 19, "a session", NULL, { "ssh", { "ssh", "host" } }, { 0 }, NULL, 0 },
	{ 19, "remote forward alone", NULL, { "ssh", { "ssh", "-N", "-R", "8080:localhost:80", "host" } }, { 0 }, NULL, 0 },
	{ 19, "a session that forwards", NULL, { "ssh", { "ssh", "-L", "8080:localhost:80", "host" } }, { 0 }, NULL, 0 },
	{ 19, "sshd", NULL, { "sshd", { "sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups" } }, { 0 }, NULL, 0 },

	/* S20 relays: only report */
	{ 20, "socat", "socat", { "socat", { "socat", "TCP-LISTEN:3128,fork,reuseaddr", "UNIX-CONNECT:/tmp/x.sock" } }, { 0 }, NULL, 0 },
	{ 20, "socat in small letters, short", "socat", { "socat1", { "socat", "-d", "tcp4-l:3128", "stdio" } }, { 0 }, NULL, 0 },
	{ 20, "nc", "netcat", { "nc.openbsd", { "nc", "-lk", "8080" } }, { 0 }, NULL, 0 },
	{ 20, "ncat", "netcat", { "ncat", { "ncat", "--listen", "8080" } }, { 0 }, NULL, 0 },
	{ 20, "nc, other flags first", "netcat", { "nc.traditional", { "nc", "-nvlp", "8080" } }, { 0 }, NULL, 0 },
	{ 20, "socat to somewhere", NULL, { "socat", { "socat", "TCP:host:80", "STDIO" } }, { 0 }, NULL, 0 },
	{ 20, "nc to somewhere", NULL, { "nc.openbsd", { "nc", "-v", "host", "80" } }, { 0 }, NULL, 0 },
	{ 20, "another program", NULL, { "myrelay", { "socat", "TCP-LISTEN:1,fork", "x" } }, { 0 }, NULL, 0 },

	/* S21 tunnels */
	{ 21, "ngrok http", "ngrok", { "ngrok", { "ngrok", "http", "3000" } }, { 0 }, NULL, 0 },
	{ 21, "ngrok start", "ngrok", { "ngrok", { "ngrok", "start", "--all" } }, { 0 }, NULL, 0 },
	{ 21, "a quick tunnel", "cloudflared", { "cloudflared", { "cloudflared", "tunnel", "--url", "http://localhost:3000" } }, { 0 }, NULL, 0 },
	{ 21, "joined and later", "cloudflared", { "cloudflared", { "cloudflared", "tunnel", "--no-autoupdate", "--url=http://localhost:3000" } }, { 0 }, NULL, 0 },
	{ 21, "a tunnel that is a service", NULL, { "cloudflared", { "cloudflared", "tunnel", "run", "prod" } }, { 0 }, NULL, 0 },
	{ 21, "ngrok's config", NULL, { "ngrok", { "ngrok", "config", "check" } }, { 0 }, NULL, 0 },
	{ 21, "another program", NULL, { "tailscaled", { "tailscaled", "tunnel", "--url", "x" } }, { 0 }, NULL, 0 },

	/* S22 go and rust */
	{ 22, "go run", "go-run", { "main", { "/tmp/go-build2861/b001/exe/main" } }, { "go", { "go", "run", "." } }, NULL, 0 },
	{ 22, "go run in another TMPDIR", "go-run", { "server", { "/var/tmp/u/go-build1/b001/exe/server", "-addr", ":8080" } }, { "go", { "go", "run", "./cmd/server" } }, NULL, 0 },
	{ 22, "air", "air", { "main", { "./tmp/main" } }, { "air", { "air" } }, NULL, 0 },
	{ 22, "cargo run", "cargo-run", { "app", { "target/debug/app" } }, { 0 }, "CARGO_PKG_NAME=app", 0 },
	{ 22, "cargo run --release with a target", "cargo-run", { "app", { "/p/target/x86_64-unknown-linux-musl/release/app" } }, { 0 }, "CARGO_PKG_NAME=app", 0 },
	{ 22, "a built program", NULL, { "app", { "/usr/local/bin/app" } }, { 0 }, NULL, 0 },
	{ 22, "the artefact started by hand", NULL, { "app", { "target/release/app" } }, { 0 }, NULL, 0 },
	{ 22, "go run's path without go", NULL, { "main", { "/tmp/go-build2861/b001/exe/main" } }, { 0 }, NULL, 0 },
	{ 22, "another child of go", NULL, { "gopls", { "gopls", "serve" } }, { "go", { "go", "tool", "gopls" } }, NULL, 0 },

	/* S23 dotnet */
	{ 23, "dotnet watch", "dotnet-watch", { "dotnet", { "dotnet", "watch", "run" } }, { 0 }, NULL, 0 },
	{ 23, "dotnet run", "dotnet-watch", { "dotnet", { "/usr/bin/dotnet", "run", "--urls=http://localhost:3100" } }, { 0 }, NULL, 0 },
	{ 23, "the program it built", "dotnet-run", { "Web", { "/p/Web/bin/Debug/net8.0/Web" } }, { "dotnet", { "dotnet", "run" } }, NULL, 0 },
	{ 23, "its dll", "dotnet-run", { "dotnet", { "dotnet", "/p/Web/bin/Debug/net8.0/Web.dll" } }, { "dotnet", { "dotnet", "watch" } }, NULL, 0 },
	{ 23, "a published program", NULL, { "dotnet", { "dotnet", "/srv/app/Web.dll" } }, { 0 }, NULL, 0 },
	{ 23, "dotnet test", NULL, { "dotnet", { "dotnet", "test" } }, { 0 }, NULL, 0 },
	{ 23, "a debug build by hand", NULL, { "Web", { "/p/Web/bin/Debug/net8.0/Web" } }, { 0 }, NULL, 0 },

	/* S24 emulators */
	{ 24, "firestore", "jvm-emulator", { "java", { "/usr/bin/java", "-Dgoogle.cloud_firestore.debug_log_level=FINE", "-Duser.language=en", "-jar", "/root/.cache/firebase/emulators/cloud-firestore-emulator-v1.19.8.jar", "--host", "127.0.0.1" } }, { 0 }, NULL, 0 },
	{ 24, "dynamodb", "jvm-emulator", { "java", { "java", "-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar", "-sharedDb" } }, { 0 }, NULL, 0 },
	{ 24, "selenium", "jvm-emulator", { "java", { "java", "-Xmx1g", "-jar", "/opt/selenium-server-4.21.0.jar", "standalone" } }, { 0 }, NULL, 0 },
	{ 24, "pubsub", "jvm-emulator", { "java", { "java", "-jar", "/x/pubsub-emulator-0.7.2.jar", "--port=8085" } }, { 0 }, NULL, 0 },
	{ 24, "a service with an emulator's jar among its classes", NULL, { "java", { "java", "-cp", "app.jar:DynamoDBLocal.jar", "com.example.App" } }, { 0 }, NULL, 0 },
	{ 24, "another jar", NULL, { "java", { "java", "-jar", "/srv/app.jar", "selenium-server.jar" } }, { 0 }, NULL, 0 },
	{ 24, "an IDE", NULL, { "java", { "java", "-cp", "x", "com.intellij.idea.Main" } }, { 0 }, NULL, 0 },

	/* S25 test databases */
	{ 25, "postgres of a test", "test-postgres", { "postgres", { "/usr/lib/postgresql/15/bin/postgres", "-D", "/tmp/lobu-test-pg-ab", "-p", "5433" } }, { 0 }, NULL, 0 },
	{ 25, "embedded-postgres", "test-postgres", { "postgres", { "postgres", "-D", "/tmp/embedded-postgres-1/data" } }, { 0 }, NULL, 0 },
	{ 25, "mongodb-memory-server", "test-mongod", { "mongod", { "mongod", "--port", "39001", "--dbpath", "/tmp/mongo-mem-x", "--bind_ip", "127.0.0.1" } }, { 0 }, NULL, 0 },
	{ 25, "redis of a test", "test-redis", { "redis-server", { "redis-server", "--port", "6390", "--dir", "/tmp/redis-test-1" } }, { 0 }, NULL, 0 },
	{ 25, "the system's postgres", NULL, { "postgres", { "/usr/lib/postgresql/15/bin/postgres", "-D", "/var/lib/postgresql/15/main" } }, { 0 }, NULL, 0 },
	{ 25, "a test's name, but no temporary directory", NULL, { "postgres", { "postgres", "-D", "/srv/lobu-test-pg-ab" } }, { 0 }, NULL, 0 },
	{ 25, "a temporary directory, but no test", NULL, { "postgres", { "postgres", "-D", "/tmp/data" } }, { 0 }, NULL, 0 },
	{ 25, "the test's name is the socket's directory", NULL, { "postgres", { "postgres", "-D", "/var/lib/pg", "-k", "/tmp/x-test-pg-y" } }, { 0 }, NULL, 0 },
	{ 25, "redis as ever", NULL, { "redis-server", { "/usr/bin/redis-server", "127.0.0.1:6379" } }, { 0 }, NULL, 0 },

	/* S26 adb */
	{ 26, "another port", "stray-adb", { "adb", { "adb", "-L", "tcp:43431", "fork-server", "server", "--reply-fd", "4" } }, { 0 }, NULL, 0 },
	{ 26, "with its path", "stray-adb", { "adb", { "/opt/android/platform-tools/adb", "-L", "tcp:5038", "fork-server", "server", "--reply-fd", "6" } }, { 0 }, NULL, 0 },
	{ 26, "as older ones say it", "stray-adb", { "adb", { "adb", "-P", "43431", "fork-server", "server" } }, { 0 }, NULL, 0 },
	{ 26, "the shared one", NULL, { "adb", { "adb", "-L", "tcp:5037", "fork-server", "server", "--reply-fd", "4" } }, { 0 }, NULL, 0 },
	{ 26, "the shared one, with a host", NULL, { "adb", { "adb", "-L", "tcp:localhost:5037", "fork-server", "server" } }, { 0 }, NULL, 0 },
	{ 26, "a client", NULL, { "adb", { "adb", "-P", "43431", "shell" } }, { 0 }, NULL, 0 },
	{ 26, "a wrapper around it", NULL, { "python3.11", { "python3", "adb.py", "fork-server", "server" } }, { 0 }, NULL, 0 },

	/* By birth, and what only a report is right for */
	{ 0, "generic server of an agent only reports", "left-by-agent", { "node", { "node", "apps/api/dist/main.js" } }, { "kiro-cli", { "kiro-cli", "chat" } }, NULL, 0 },
	{ 0, "of an agent on node", "left-by-agent", { "api", { "./api" } }, { "node", { "node", "/usr/lib/node_modules/@google/gemini-cli/dist/index.js" } }, NULL, 0 },
	{ 0, "of a CI job", "left-by-ci", { "api", { "./api" } }, { "Runner.Worker", { "/r/bin/Runner.Worker", "spawnclient", "1", "2" } }, NULL, 0 },
	{ 0, "a jupyter kernel below a watcher", "jupyter-kernel", { PYTHON, { "python3", "-m", "ipykernel_launcher", "-f", "/r/kernel-1.json" } }, { "watchexec", { "watchexec", "x" } }, NULL, 0 },
	{ 0, "a model server", "model-server", { "llama-server", { "llama-server", "--port", "9000" } }, { 0 }, NULL, 0 },
	{ 0, "nginx", NULL, { "nginx", { "nginx: master process nginx" } }, { 0 }, NULL, 0 },
	{ 0, "a media player that inherited a descriptor", NULL, { "vlc", { "vlc", "movie.mkv" } }, { 0 }, NULL, 0 },
};

/* ---- making processes of rows */

struct subject {
	struct process process;
	char bytes[2048];
	char environment[256];
};

static void append(char *bytes, size_t size, size_t *used, const char *token)
{
	size_t length = strlen(token) + 1;

	cr_assert(*used + length <= size);
	memcpy(bytes + *used, token, length);
	*used += length;
}

static void make_subject(const struct command *command, const char *environment, struct subject *ret)
{
	struct process *process = &ret->process;
	const char *comm = command->exe;
	size_t used = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < COUNT_OF(command->argv) && command->argv[i]; i++)
		append(ret->bytes, sizeof(ret->bytes), &used, command->argv[i]);
	process->argv = (struct argv){ .bytes = ret->bytes, .length = used, .is_known = true };
	process->id.tgid = 4242;
	process->birth_parent = NONE;
	process->is_recorded = process->is_witnessed = process->has_execed = true;
	process->is_exe_root_only = true;
	process->comm = comm;
	process->exe = command->exe;	/* of a deleted file too: facts.h keeps " (deleted)" out of names */
	process->details = FACT_KNOWN;
	process->cmdline = FACT_KNOWN;
	process->environ = FACT_KNOWN;
	used = 0;
	if (environment)
		append(ret->environment, sizeof(ret->environment), &used, environment);
	process->environment = (struct argv){ .bytes = ret->environment, .length = used, .is_known = true };
	program_identify(process->exe, process->comm, &process->argv, &process->program);
}

static const struct command a_shell = { "bash", { "bash" } };

/* user/etc/listenreap.conf as it is built in; this host may have an /etc/listenreap.conf of its own. */
extern const char _binary_listenreap_conf_start[], _binary_listenreap_conf_end[];

static struct config *config;

static void load(void)
{
	size_t length = (size_t)(_binary_listenreap_conf_end - _binary_listenreap_conf_start);
	struct failure failure = { 0 };

	cr_assert(config_parse("listenreap.conf", _binary_listenreap_conf_start, length, &config, &failure) == 0, "%s", failure.text);
}

static void unload(void)
{
	config_free(config);
	config = NULL;
}

TestSuite(shipped, .init = load, .fini = unload);

/* Process, birth parent (also by multiprocessing's line), anchor, environment: what decides which rule a lone holder meets. */
static bool meets(const struct rule *rule, const struct row *row, const struct process *process, const struct process *parent)
{
	enum keeper anchor = row->anchor == KEEPER_NONE ? KEEPER_AGENT : row->anchor;
	enum match match = rule_fits_process(rule, process);

	if (match == MATCH_NO && rules_is_multiprocessing_child(process))
		match = rule_fits_process(rule, parent);
	cr_expect(match != MATCH_UNKNOWN, "S%02d %s: unknown for %s", row->family, row->what, rule->matcher.name);
	return match == MATCH_YES && (rule->born_of.count == 0 || globs_name_program(&rule->born_of, &parent->program)) &&
	       (rule->anchor_kinds == 0 || (rule->anchor_kinds & 1u << anchor)) &&
	       (rule->env_count == 0 || rule_fits_environment(rule, process) == MATCH_YES);
}

static const struct rule *first_rule(const struct row *row)
{
	const struct ruleset *ruleset = config_ruleset(config);
	struct subject subject, parent;

	make_subject(&row->command, row->environment, &subject);
	make_subject(row->parent.exe ? &row->parent : &a_shell, NULL, &parent);
	for (size_t i = 0; i < ruleset->rule_count; i++)
		if (meets(&ruleset->rules[i], row, &subject.process, &parent.process))
			return &ruleset->rules[i];
	return NULL;
}

static const char *name_or_none(const struct rule *rule)
{
	return rule ? rule->matcher.name : "(none)";
}

Test(shipped, knows_every_family_and_nothing_that_looks_like_it)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct row *row = &rows[i];
		const struct rule *rule = first_rule(row);

		cr_expect(strcmp(name_or_none(rule), row->rule ? row->rule : "(none)") == 0, "S%02d %s: %s, not %s", row->family, row->what,
			  name_or_none(rule), row->rule ? row->rule : "(none)");
	}
}

Test(shipped, has_three_rows_of_each_kind_for_every_family)
{
	int yes[FAMILIES + 1] = { 0 }, no[FAMILIES + 1] = { 0 };

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		(rows[i].rule ? yes : no)[rows[i].family]++;
	for (int i = 1; i <= FAMILIES; i++)
		cr_expect(yes[i] >= 3 && no[i] >= 3, "S%02d: %d, %d", i, yes[i], no[i]);
}

/* What a rule would stop must not be spared for its own name: then the rule could never act. */
Test(shipped, protects_nothing_that_it_means_to_stop)
{
	const struct ruleset *ruleset = config_ruleset(config);

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct rule *rule = first_rule(&rows[i]);
		struct subject subject;

		if (!rule || rule->action != RULE_KILL)
			continue;
		make_subject(&rows[i].command, rows[i].environment, &subject);
		const struct matcher *protection = rules_protection_of(ruleset, &subject.process);
		enum keeper keeper = rules_keeper_of(ruleset, &subject.process, false);
		cr_expect(protection == NULL, "S%02d %s: [protect %s]", rows[i].family, rows[i].what, protection ? protection->name : "");
		cr_expect(keeper == KEEPER_NONE || keeper == KEEPER_WRAPPER, "S%02d %s: %s", rows[i].family, rows[i].what, keeper_names[keeper]);
	}
}

Test(shipped, stops_with_the_signal_that_each_understands)
{
	const struct ruleset *ruleset = config_ruleset(config);

	for (size_t i = 0; i < ruleset->rule_count; i++) {
		const struct rule *rule = &ruleset->rules[i];
		bool wants_int = strcmp(rule->matcher.name, "test-postgres") == 0 || strncmp(rule->matcher.name, "dotnet-", 7) == 0;

		cr_expect(rule->signal == (wants_int ? 2 : 15), "%s", rule->matcher.name);
		cr_expect(rule->orphan == RULE_ORPHAN_YES && rule->in_use == RULE_SPARE && rule->operator == RULE_SPARE, "%s", rule->matcher.name);
		cr_expect(!rule->any_netns && !rule->any_pidns, "%s", rule->matcher.name);
	}
}

/* ---- protections */

struct protection_row {
	const char *what, *protection;	/* NULL: none */
	struct command command;
};

static const struct protection_row protection_rows[] = {
	{ "sshd", "ssh", { "sshd", { "sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups" } } },
	{ "sshd-session", "ssh", { "sshd-session", { "sshd-session: u [priv]" } } },
	{ "ssh is no sshd", NULL, { "ssh", { "ssh", "-N", "-L", "1:h:1", "h" } } },
	{ "nginx", "web-servers", { "nginx", { "nginx: worker process" } } },
	{ "apache", "web-servers", { "apache2", { "/usr/sbin/apache2", "-k", "start" } } },
	{ "the system's postgres", "databases", { "postgres", { "postgres", "-D", "/var/lib/postgresql/15/main", "-k", "/run" } } },
	{ "a temporary postgres", NULL, { "postgres", { "postgres", "-D", "/tmp/x-test-pg-1" } } },
	{ "mysqld with its socket in /tmp", "databases", { "mysqld", { "mysqld", "--datadir=/var/lib/mysql", "--socket=/tmp/mysql.sock" } } },
	{ "a temporary mysqld", NULL, { "mysqld", { "mysqld", "--datadir=/tmp/x" } } },
	{ "redis", "databases", { "redis-server", { "/usr/bin/redis-server", "*:6379" } } },
	{ "docker-proxy", "containers", { "docker-proxy", { "docker-proxy", "-proto", "tcp", "-host-port", "80" } } },
	{ "rootlessport", "containers", { "rootlessport", { "rootlessport" } } },
	{ "postfix", "postfix", { "master", { "/usr/lib/postfix/sbin/master", "-w" } } },
	{ "a master.js", NULL, { "node", { "node", "master.js" } } },
	{ "shared adb", "adb", { "adb", { "adb", "-L", "tcp:5037", "fork-server", "server", "--reply-fd", "4" } } },
	{ "stray adb", NULL, { "adb", { "adb", "-L", "tcp:40001", "fork-server", "server" } } },
	{ "gradle daemon", "build-daemons", { "java", { "java", "-Xmx1g", "-cp", "/g/x.jar", "org.gradle.launcher.daemon.bootstrap.GradleDaemon", "8.5" } } },
	{ "bazel server", "build-daemons", { "java", { "bazel(work)", "-Xmx2g", "-jar", "/root/.cache/bazel/x/A-server.jar" } } },
	{ "an app on gradle", NULL, { "java", { "java", "-jar", "app.jar" } } },
	{ "nx daemon", "nx-daemon", { "node", { "node", "/p/node_modules/nx/src/daemon/server/start.js" } } },
	{ "nx serve", NULL, { "node", { "node", "/p/node_modules/.bin/nx", "serve" } } },
	{ "a person's browser", "browsers", { "chrome", { "/opt/google/chrome/chrome", "http://localhost:3000" } } },
	{ "an automation browser", NULL, { "chrome", { "chrome", "--headless=new", "--remote-debugging-port=0", "--user-data-dir=/tmp/x" } } },
	{ "its helper", NULL, { "chrome", { "/opt/google/chrome/chrome", "--type=renderer", "--lang=en" } } },
	{ "an automation browser on a pipe", NULL, { "chromium", { "chromium", "--remote-debugging-pipe", "--user-data-dir=/tmp/x" } } },
	{ "firefox", "firefox", { "firefox-esr", { "firefox-esr" } } },
	{ "driven firefox", NULL, { "firefox", { "firefox", "--marionette", "--profile", "/tmp/x" } } },
	{ "vim", "editors", { "vim.basic", { "vim", "http-reap.sh" } } },
	{ "emacs", "editors", { "emacs-gtk", { "emacs", "x" } } },
	{ "vite", NULL, { "node", { "node", "/p/node_modules/.bin/vite" } } },
	{ "python http.server", NULL, { PYTHON, { "python3", "-m", "http.server" } } },
	{ "opencode", NULL, { "opencode", { "opencode", "serve" } } },
};

Test(shipped, protects)
{
	for (size_t i = 0; i < COUNT_OF(protection_rows); i++) {
		const struct protection_row *row = &protection_rows[i];
		const char *wanted = row->protection ? row->protection : "(none)";
		struct subject subject;

		make_subject(&row->command, NULL, &subject);
		const struct matcher *protection = rules_protection_of(config_ruleset(config), &subject.process);
		const char *got = protection ? protection->name : "(none)";
		cr_expect(strcmp(got, wanted) == 0, "%s: %s, not %s", row->what, got, wanted);
	}
}

/* ---- who is who */

struct keeper_row {
	const char *what;
	enum keeper keeper;
	struct command command;
	bool has_tty;
};

static const struct keeper_row keeper_rows[] = {
	{ "claude", KEEPER_AGENT, { "claude", { "claude", "-p", "x" } }, true },
	{ "claude, whose executable is a version", KEEPER_AGENT, { "2.1.3", { "claude" } }, true },
	{ "claude's package", KEEPER_AGENT, { "node", { "node", "--no-warnings", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js" } }, true },
	{ "codex's script", KEEPER_AGENT, { "node", { "node", "/usr/bin/codex", "exec" } }, false },
	{ "gemini", KEEPER_AGENT, { "node", { "node", "/usr/lib/node_modules/@google/gemini-cli/dist/index.js" } }, true },
	{ "aider as a module", KEEPER_AGENT, { PYTHON, { "python3", "-m", "aider" } }, true },
	{ "a job's worker", KEEPER_AGENT, { "Runner.Worker", { "/r/bin/Runner.Worker", "spawnclient", "1", "2" } }, false },
	{ "buildkite's worker", KEEPER_AGENT, { "buildkite-agent", { "buildkite-agent", "bootstrap" } }, false },
	{ "buildkite's daemon", KEEPER_MANAGER, { "buildkite-agent", { "buildkite-agent", "start" } }, false },
	{ "buildkite's client", KEEPER_NONE, { "buildkite-agent", { "buildkite-agent", "artifact", "upload" } }, false },
	{ "one that mentions an agent", KEEPER_NONE, { "node", { "node", "app.js", "claude" } }, false },
	{ "jenkins' agent", KEEPER_MANAGER, { "java", { "java", "-jar", "/opt/agent.jar", "-url", "http://x" } }, false },
	{ "gitlab-runner", KEEPER_MANAGER, { "gitlab-runner", { "gitlab-runner", "run" } }, false },
	{ "cron", KEEPER_MANAGER, { "cron", { "/usr/sbin/cron", "-f" } }, false },
	{ "a cron.js of somebody's own", KEEPER_NONE, { "node", { "node", "cron.js" } }, false },
	{ "an init script of somebody's own", KEEPER_SCRIPT, { "sh", { "sh", "./init" } }, false },
	{ "user's systemd", KEEPER_MANAGER, { "systemd", { "/lib/systemd/systemd", "--user" } }, false },
	{ "tmux", KEEPER_PERSON, { "tmux", { "tmux", "new", "-d" } }, false },
	{ "ssh session", KEEPER_PERSON, { "sshd", { "sshd: u@pts/0" } }, false },
	{ "vscode's remote server", KEEPER_PERSON, { "node", { "/root/.vscode-server/cli/servers/x/server/node", "/root/.vscode-server/cli/servers/x/server/out/server-main.js", "--start-server" } }, false },
	{ "an IDE on java", KEEPER_PERSON, { "java", { "java", "-cp", "x", "com.intellij.idea.Main" } }, false },
	{ "terminal emulator", KEEPER_PERSON, { "alacritty", { "alacritty" } }, false },
	{ "interactive shell", KEEPER_PERSON, { "bash", { "-bash" } }, true },
	{ "supervisord", KEEPER_SUPERVISOR, { PYTHON, { "/usr/bin/python3", "/usr/bin/supervisord", "-n" } }, false },
	{ "runsv", KEEPER_SUPERVISOR, { "runsv", { "runsv", "web" } }, false },
	{ "pm2's daemon", KEEPER_SUPERVISOR, { "node", { "node", "/usr/lib/node_modules/pm2/lib/Daemon.js" } }, false },
	{ "pm2's program", KEEPER_NONE, { "node", { "node", "/usr/lib/node_modules/pm2/lib/ProcessContainerFork.js" } }, false },

	{ "npm", KEEPER_WRAPPER, { "node", { "node", "/usr/bin/npm", "run", "dev" } }, true },
	{ "npm's file", KEEPER_WRAPPER, { "node", { "node", "/usr/lib/node_modules/npm/bin/npm-cli.js", "exec", "vite" } }, false },
	{ "npx", KEEPER_WRAPPER, { "node", { "node", "/usr/bin/npx", "serve" } }, false },
	{ "yarn", KEEPER_WRAPPER, { "node", { "node", "/p/.yarn/releases/yarn-4.1.0.cjs", "dev" } }, false },
	{ "pnpm", KEEPER_WRAPPER, { "node", { "node", "/usr/lib/node_modules/pnpm/bin/pnpm.cjs", "dev" } }, false },
	{ "sh -c", KEEPER_WRAPPER, { "dash", { "sh", "-c", "vite --host" } }, false },
	{ "sh -c with a terminal", KEEPER_WRAPPER, { "bash", { "bash", "-lc", "vite" } }, true },
	{ "uv run", KEEPER_WRAPPER, { "uv", { "uv", "run", "server.py" } }, false },
	{ "poetry run", KEEPER_WRAPPER, { PYTHON, { "/v/bin/python", "/v/bin/poetry", "run", "x" } }, false },
	{ "poetry build", KEEPER_NONE, { PYTHON, { "/v/bin/python", "/v/bin/poetry", "build" } }, false },
	{ "conda run", KEEPER_WRAPPER, { PYTHON, { "/c/bin/python", "/c/bin/conda", "run", "-n", "e", "x" } }, false },
	{ "hatch run", KEEPER_WRAPPER, { PYTHON, { "python3", "-m", "hatch", "run", "x" } }, false },
	{ "sudo", KEEPER_WRAPPER, { "sudo", { "sudo", "-u", "x", "y" } }, true },
	{ "timeout", KEEPER_WRAPPER, { "timeout", { "timeout", "60", "node", "script.js" } }, false },
	{ "script", KEEPER_WRAPPER, { "script", { "script", "-qec", "npm run dev", "/dev/null" } }, true },
	{ "script.js", KEEPER_NONE, { "node", { "node", "script.js" } }, false },
	{ "watch.mjs", KEEPER_NONE, { "node", { "node", "/p/scripts/watch.mjs" } }, false },
	{ "time", KEEPER_WRAPPER, { "time", { "/usr/bin/time", "-v", "node", "x.js" } }, false },
	{ "make", KEEPER_WRAPPER, { "make", { "make", "dev" } }, true },
	{ "find", KEEPER_WRAPPER, { "find", { "find", ".", "-exec", "x", ";" } }, true },
	{ "turbo", KEEPER_WRAPPER, { "turbo", { "turbo", "run", "dev" } }, false },
	{ "run-p", KEEPER_WRAPPER, { "node", { "node", "/p/node_modules/.bin/run-p", "dev:*" } }, false },
	{ "concurrently", KEEPER_WRAPPER, { "node", { "node", "/p/node_modules/.bin/concurrently", "a", "b" } }, false },
	{ "nodemon", KEEPER_WRAPPER, { "node", { "node", "/p/node_modules/nodemon/bin/nodemon.js", "x" } }, false },
	{ "tsx watch", KEEPER_WRAPPER, { "node", { "node", "/p/node_modules/.bin/tsx", "watch", "x.ts" } }, false },
	{ "node --watch", KEEPER_WRAPPER, { "node", { "node", "--watch", "server.js" } }, false },
	{ "node --run", KEEPER_WRAPPER, { "node", { "node", "--run", "dev" } }, false },
	{ "node", KEEPER_NONE, { "node", { "node", "server.js" } }, false },
	{ "webpack --watch", KEEPER_NONE, { "node", { "node", "/p/node_modules/.bin/webpack", "--watch" } }, false },
	{ "bun run dev", KEEPER_WRAPPER, { "bun", { "bun", "run", "dev" } }, false },
	{ "bun run server.ts", KEEPER_NONE, { "bun", { "bun", "run", "server.ts" } }, false },
	{ "bun server.ts", KEEPER_NONE, { "bun", { "bun", "server.ts" } }, false },
	{ "deno task", KEEPER_WRAPPER, { "deno", { "deno", "task", "dev" } }, false },
	{ "deno run", KEEPER_NONE, { "deno", { "deno", "run", "-A", "main.ts" } }, false },
	{ "go run", KEEPER_WRAPPER, { "go", { "go", "run", "." } }, false },
	{ "go build", KEEPER_NONE, { "go", { "go", "build" } }, false },
	{ "cargo run", KEEPER_WRAPPER, { "cargo", { "cargo", "+nightly", "run" } }, false },
	{ "cargo watch", KEEPER_WRAPPER, { "cargo-watch", { "cargo-watch", "watch", "-x", "run" } }, false },
	{ "cargo build", KEEPER_NONE, { "cargo", { "cargo", "build" } }, false },
	{ "dotnet watch", KEEPER_WRAPPER, { "dotnet", { "dotnet", "watch" } }, false },
	{ "dotnet app.dll", KEEPER_NONE, { "dotnet", { "dotnet", "app.dll" } }, false },
	{ "artisan serve", KEEPER_WRAPPER, { "php8.2", { "php", "artisan", "serve", "--port=8001" } }, false },
	{ "artisan queue:work", KEEPER_NONE, { "php8.2", { "php", "artisan", "queue:work" } }, false },
	{ "wp server", KEEPER_WRAPPER, { "php8.2", { "php", "/usr/local/bin/wp", "server", "--port=8181" } }, false },
	{ "wp cron", KEEPER_NONE, { "php8.2", { "php", "/usr/local/bin/wp", "cron", "event", "run" } }, false },
	{ "firebase emulators", KEEPER_WRAPPER, { "node", { "node", "/p/node_modules/.bin/firebase", "emulators:start" } }, false },
	{ "firebase deploy", KEEPER_NONE, { "node", { "node", "/p/node_modules/.bin/firebase", "deploy" } }, false },
	{ "xvfb-run", KEEPER_WRAPPER, { "dash", { "/bin/sh", "/usr/bin/xvfb-run", "chrome" } }, false },
	{ "tini", KEEPER_WRAPPER, { "tini", { "/usr/bin/tini", "--", "x" } }, false },
	{ "shell script", KEEPER_SCRIPT, { "bash", { "bash", "./dev.sh" } }, false },
	{ "any other program", KEEPER_NONE, { "my-harness", { "my-harness" } }, false },
};

Test(shipped, knows_who_is_who)
{
	for (size_t i = 0; i < COUNT_OF(keeper_rows); i++) {
		const struct keeper_row *row = &keeper_rows[i];
		struct subject subject;

		make_subject(&row->command, NULL, &subject);
		enum keeper keeper = rules_keeper_of(config_ruleset(config), &subject.process, row->has_tty);
		cr_expect(keeper == row->keeper, "%s: %s, not %s", row->what, keeper_names[keeper], keeper_names[row->keeper]);
	}
}

/* A name alone makes nobody a manager. */
Test(shipped, believes_a_manager_only_from_a_file_of_roots)
{
	struct subject subject;
	const struct command command = { "cron", { "cron" } };

	make_subject(&command, NULL, &subject);
	subject.process.is_exe_root_only = false;
	cr_expect(rules_keeper_of(config_ruleset(config), &subject.process, false) == KEEPER_NONE);
}
