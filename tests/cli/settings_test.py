"""The sources of settings: a flag beats the environment, the environment beats the file."""

from command import ECHO, MODEL, CommandTest


class SettingsTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("m.gguf", MODEL)
        self.file("conf/limits.toml", self.settings(11, "../m.gguf"))

    def settings(self, max_graphs, path):
        return f"backend_dirs = ['{ECHO}']\n[limits]\nmax_graphs = {max_graphs}\n[models.m]\npath = '{path}'\n"

    def check_graphs(self, n, flags=(), env=None):
        result = self.run_probe("graphs", "m", flags=flags, env={"WASINN_CONFIG": "", **(env or {})})
        self.check(result, out=f"graphs {n}, then errno 7\n")

    def test_file(self):
        self.check_graphs(11, flags=["--config", "conf/limits.toml"])
        self.check_graphs(11, env={"WASINN_CONFIG": "conf/limits.toml"})

    def test_flag_names_another_file(self):
        self.file("other.toml", self.settings(12, "m.gguf"))
        self.check_graphs(12, flags=["--config", "other.toml"], env={"WASINN_CONFIG": "conf/limits.toml"})

    def test_environment_beats_file(self):
        self.check_graphs(13, env={"WASINN_CONFIG": "conf/limits.toml", "WASINN_NN_MAX_GRAPHS": "13"})

    def test_flag_beats_environment_and_file(self):
        env = {"WASINN_CONFIG": "conf/limits.toml", "WASINN_NN_MAX_GRAPHS": "13"}
        self.check_graphs(14, flags=["--nn-max-graphs", "14"], env=env)

    def test_a_models_flag_beats_the_file(self):
        self.file("two.gguf", "GGUF\nin x f32 4\n")
        result = self.run_probe("infer", "m", flags=["--config", "conf/limits.toml", "--model", "m=two.gguf"])
        self.check(result, out="infer m errno 1")

    def test_deny_load_from_everywhere(self):
        self.file("deny.toml", f"backend_dirs = ['{ECHO}']\n[policy]\nload = 'deny'\n")
        self.check(self.run_probe("load"), out="load errno 0")
        self.check(self.run_probe("load", env={"WASINN_NN_LOAD": "deny"}), out="load errno 6")
        self.check(self.run_probe("load", flags=["--config", "deny.toml"]), out="load errno 6")

    def test_log_level(self):
        for level, logged in (("error", False), ("warning", True), ("WARNING", True), ("debug", True)):
            result = self.run_probe("infer", "nothing", flags=["--log-level", level])
            self.check(result, out="infer nothing errno 8")
            self.assertEqual("wasinn: warning: " in result.err, logged, result)
        result = self.run_probe("infer", "nothing", env={"WASINN_LOG_LEVEL": "error"})
        self.check(result, out="infer nothing errno 8", err="")

    def test_errors_in_a_file(self):
        for content, text in (
            ("[limitz]\nmax_graphs = 1\n", "did you mean 'limits'?"),
            ("[limits]\nmax_graph = 1\n", "max_graphs"),
            ("[limits]\nmax_graphs = 'many'\n", "max_graphs"),
            ("[limits\n", "bad.toml"),
            ("[models.m]\nisolate = true\n", "configuration key 'models.m.path' is missing"),
            ("[policy]\ndialect = 'klingon'\n", "bad.toml: configuration key 'policy.dialect': unknown dialect 'klingon'"),
            ("[limits]\nmax_graphs = 5000000000\n", "bad.toml: configuration key 'limits.max_graphs' must be an integer from 0"),
        ):
            self.file("bad.toml", content)
            self.check_error(self.run_probe("args", flags=["--config", "bad.toml"]), text)
        self.check_error(self.run_probe("args", flags=["--config", "nowhere.toml"]), "'nowhere.toml': No such file")
        self.check_error(self.run_probe("args", flags=["--config", "."]), "cannot read the configuration '.': Is a directory")

    def test_a_file_with_nothing_in_it(self):
        self.file("empty.toml", "")
        self.check(self.run_probe("args", flags=["--config", "empty.toml"]), err="")

    def test_a_word_that_a_flag_does_not_know_is_a_usage_error(self):
        for flag, text in (("--dialect", "unknown dialect 'no'"), ("--nn-load", "unknown way"), ("--log-level", "unknown log level")):
            self.check_error(self.run_probe("args", flags=[flag, "no"]), text, code=2)
            self.check_error(self.run_probe("args", flags=[flag, "no"]), flag, code=2)

    def test_the_configuration_of_a_backend_that_is_not_there(self):
        self.file("conf/limits.toml", self.settings(11, "../m.gguf") + "[backends.onx]\nthreads = 1\n")
        result = self.run_probe("infer", "m", flags=["--config", "conf/limits.toml"])
        self.check(result, err="the configuration of backend 'onx' names no backend that is here; did you mean 'onnx'?")

    def test_a_model_of_a_backend_that_is_not_there(self):
        self.file("conf/limits.toml", self.settings(11, "../m.gguf") + "backend = 'ecko'\n")
        result = self.run_probe("infer", "m", flags=["--config", "conf/limits.toml"])
        self.check(result, err="model 'm:1': there is no backend 'ecko'; did you mean 'echo'?")

    def test_the_line_about_a_lost_worker_names_its_guest(self):
        self.file("dies.gguf", "GGUF\nin x f32 1\ndies load\n")
        result = self.run_probe("infer", "m", flags=["--model", "m=dies.gguf,isolate=true"])
        self.check(result, err="; it served model 'm:1'; with it the models (b2sum -l 256) ")

    def test_a_limit_that_is_misspelt_in_the_environment(self):
        for name in ("WASINN_NN_TIMOUT", "WASINN_MAX_MEMRY"):
            self.check(self.run_probe("args", env={name: "1"}), err=f"wasinn: warning: {name} in the environment belongs to no flag")
        self.check(self.run_probe("args", env={"WASINN_NN_TIMEOUT": "1s", "WASINN_MAX_MEMORY": "1M"}), err="")

    def test_a_mistake_names_where_it_is(self):
        for env, flags, words in (({"WASINN_THREADS": "x"}, [], "WASINN_THREADS: 'x' is not a count"), ({}, ["--threads", "x"], "--threads: 'x' is not a count"),
                                  ({"WASINN_THREADS": "1"}, ["--threads", "x"], "--threads: 'x' is not a count"),
                                  ({"WASINN_ENGINE": "v8"}, [], "WASINN_ENGINE: 'v8' is not wasmtime or wamr")):
            with self.subTest(env=env, flags=flags):
                self.check_error(self.run_probe(flags=flags, env=env), words, code=2)

    def test_a_bad_variable_is_a_usage_error(self):
        self.check_error(self.run_probe("args", env={"WASINN_NN_MAX_GRAPHS": "many"}), "'many' is not a count", code=2)

    def test_threads(self):
        for number in ("1", "08", "00"):
            self.check(self.run_probe("args", flags=["--threads", number]), err="")
        for number in ("513", "100000"):
            result = self.run_probe("args", flags=["--threads", number])
            self.check_error(result, "'threads' must be an integer from 0 to 512", code=2)
            self.check_error(result, "--threads", code=2)
