"""Images, unpacked, and containers of them by runc, as a kubelet would have them run: what the manifests say, and Kubernetes' own defaults."""

import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

WAIT = 60  # seconds, for what takes much less
USER = 65532
PORTS = ["--http-port", "0", "--grpc-port", "0", "--metrics-port", "0"]  # this machine's, which may be taken
PROFILE = pathlib.Path("/usr/share/containers/seccomp.json")  # the default of CRI-O and Podman
# Calls that containerd's default refuses, too, without a capability: own namespaces, mounts, places of memory.
REFUSED = {"clone", "clone3", "fsconfig", "fsmount", "fsopen", "fspick", "get_mempolicy", "keyctl", "mbind", "mount", "mount_setattr", "move_mount",
           "open_tree", "pivot_root", "process_madvise", "set_mempolicy", "setns", "umount", "umount2", "unshare", "userfaultfd"}
NAMESPACES = 0x7E020000  # CLONE_NEW…
MASKED = ["/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi",
          "/proc/timer_list", "/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


def why_not():
    """Why this machine cannot start containers, or None: they need their own mounts, which a chroot does not allow."""
    if os.geteuid() != 0:
        return "containers are started by root"
    done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not os.access("/sys/fs/cgroup", os.W_OK):
        return f"no containers can be started here: {done.stderr.strip() or '/sys/fs/cgroup cannot be written'}"
    return None


def unpack(archive, folder):
    """An archive of an image into folder/rootfs. Returns the image's configuration."""
    layout = folder / "layout"
    layout.mkdir()
    subprocess.run(["tar", "-xf", archive, "-C", layout], check=True)

    def blob(descriptor):
        return layout / "blobs" / descriptor["digest"].replace(":", "/")

    [entry] = json.loads((layout / "index.json").read_text())["manifests"]
    manifest = json.loads(blob(entry).read_text())
    root = folder / "rootfs"
    root.mkdir()
    for layer in manifest["layers"]:
        subprocess.run(["tar", "-xpf", blob(layer), "-C", root], check=True)
    return json.loads(blob(manifest["config"]).read_text())["config"]


def runtime_default():
    """The stricter of both profiles that a node may have as RuntimeDefault, for a container without capabilities, as runc reads it."""
    syscalls = []
    for rule in json.loads(PROFILE.read_text())["syscalls"]:
        includes = rule.get("includes") or {}
        if "caps" in includes or "amd64" not in includes.get("arches", ["amd64"]):
            continue
        names = sorted(set(rule["names"]) - REFUSED)
        if names:
            kept = {key: rule[key] for key in ("action", "args", "errnoRet") if rule.get(key) is not None}
            syscalls.append({"names": names, **kept})
    ours = {"index": 0, "value": NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    syscalls.append({"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [ours]})
    syscalls.append({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38})  # so that the C library takes clone
    return {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1, "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"], "syscalls": syscalls}


def configuration(root, image, pod, container, volumes, more):
    """runc's form of a container of a pod's spec. `volumes` are this machine's folders, by the volumes' names."""
    context = {**pod.get("securityContext", {}), **container["securityContext"]}
    limits = container["resources"]["limits"]
    mounts = [
        {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
        {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
    ]
    for mount in container.get("volumeMounts", []):
        options = ["bind", "nosuid", "nodev", "ro" if mount.get("readOnly") else "rw"]
        mounts.append({"destination": mount["mountPath"], "type": "bind", "source": str(volumes[mount["name"]]), "options": options})
    process = {
        "user": {"uid": context["runAsUser"], "gid": context["runAsGroup"], "additionalGids": [context.get("fsGroup", context["runAsGroup"])]},
        "args": [*container.get("command", image.get("Entrypoint", [])), *container.get("args", image.get("Cmd", [])), *more],
        "env": [*image["Env"], *(f"{entry['name']}={entry['value']}" for entry in container.get("env", []))],
        "cwd": image.get("WorkingDir") or "/",
        "noNewPrivileges": not context["allowPrivilegeEscalation"],
        "capabilities": {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")},
    }
    assert context["capabilities"] == {"drop": ["ALL"]} and context["seccompProfile"] == {"type": "RuntimeDefault"}
    linux = {
        # The network is this machine's: a pod's comes from elsewhere.
        "namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount", "cgroup")],
        "seccomp": runtime_default(),
        "maskedPaths": MASKED,
        "readonlyPaths": READ_ONLY,
        "resources": {"memory": {"limit": bytes_of(limits["memory"])}, "cpu": {"quota": int(float(limits["cpu"]) * 100000), "period": 100000}, "pids": {"limit": 1024}},
    }
    return {"ociVersion": "1.0.2", "process": process, "root": {"path": str(root), "readonly": context["readOnlyRootFilesystem"]}, "mounts": mounts, "linux": linux}


def bytes_of(quantity):
    return int(quantity[:-2]) << {"Ki": 10, "Mi": 20, "Gi": 30}[quantity[-2:]]


class Container:
    """A container of a pod's spec, until stop(). `root` is the image's tree, `more` are further arguments."""

    def __init__(self, root, image, pod, spec, more=PORTS):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-container-"))
        self.name = self.folder.name
        self.volumes = {mount["name"]: self.folder / mount["name"] for mount in spec.get("volumeMounts", [])}
        for folder in self.volumes.values():
            folder.mkdir()
            os.chown(folder, 0, USER)  # as fsGroup has it
            folder.chmod(0o2775)
        self.root, self.image, self.pod, self.spec, self.more, self.process = root, image, pod, spec, more, None

    def configure(self):
        config = configuration(self.root, self.image, self.pod, self.spec, self.volumes, self.more)
        (self.folder / "config.json").write_text(json.dumps(config))
        return [*self.runc("run"), "--bundle", str(self.folder), self.name]

    def start(self):
        """Starts a server."""
        command = self.configure()
        self.err = (self.folder / "stderr").open("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.err, text=True)
        self.port, self.grpc_port, self.metrics_port = (self.read_port(what) for what in ("HTTP", "gRPC", "metrics"))

    def run_to_end(self):
        """Runs a program that ends by itself."""
        return subprocess.run(self.configure(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)

    def runc(self, command):
        return ["runc", "--root", str(self.folder / "state"), command]

    def read_port(self, what):
        line = self.process.stdout.readline()
        found = re.fullmatch(rf"serving {what} on 0\.0\.0\.0:(\d+)\n", line)
        if not found:
            self.process.wait(timeout=WAIT)
            self.err.seek(0)
            raise AssertionError(f"{line!r} {self.err.read()}")
        return int(found[1])

    def run(self, *command):
        """In the container."""
        return subprocess.run([*self.runc("exec"), self.name, *command], capture_output=True, text=True, timeout=WAIT, check=False)

    def pids(self):
        said = subprocess.run([*self.runc("ps"), "--format", "json", self.name], capture_output=True, text=True, check=True)
        return json.loads(said.stdout)

    def ask(self, method, path, body=None, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=WAIT)
        connection.request(method, path, body)
        answer = connection.getresponse()
        reported = answer.read()
        connection.close()
        return answer.status, reported

    def stop(self):
        """The exit code."""
        subprocess.run([*self.runc("kill"), self.name, "TERM"], check=True)
        return self.process.wait(timeout=WAIT)

    def remove(self):
        if self.process is not None:
            if self.process.poll() is None:
                subprocess.run([*self.runc("kill"), self.name, "KILL"], check=False)
                self.process.wait(timeout=WAIT)
            self.process.stdout.close()
            self.err.close()
        shutil.rmtree(self.folder)


def status_of(pid):
    """The system's data about a process."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)
