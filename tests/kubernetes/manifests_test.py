"""The files for Kubernetes in packaging/kubernetes and docs/kubernetes.md are valid, and fit one another."""

import copy
import unittest

import manifests
import yaml
from manifests import FOLDER, ROOT, of_files, of_kind

NAME = "app.kubernetes.io/name"


def pod_of(found):
    """The pod's template of a Deployment."""
    return found["spec"]["template"]


def change(found, path, value):
    """A copy, in which the value at a path is another one; without one it is gone."""
    changed = copy.deepcopy(found)
    place = changed
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


class ValidTest(unittest.TestCase):
    def test_each_object_of_the_folder(self):
        self.assertGreater(len(of_files()), 10)
        for path, found in of_files():
            with self.subTest(path.relative_to(FOLDER), kind=found["kind"]):
                self.assertEqual(manifests.faults(found), [])

    def test_each_object_of_the_page(self):
        shown = manifests.of_page()
        self.assertGreater(len(shown), 1)
        for found in shown:
            with self.subTest(found["kind"]):
                self.assertEqual(manifests.faults(found), [])

    def check_faults(self, found, path, value, text):
        said = manifests.faults(change(found, path, value))
        self.assertTrue(any(text in line for line in said), said)

    def test_errors_of_kubernetes_are_reported(self):
        deployment = of_kind("Deployment")
        container = ["spec", "template", "spec", "containers", 0]
        self.check_faults(deployment, [*container, "securityContext", "readOnlyRoot"], True, "readOnlyRoot")
        self.check_faults(deployment, [*container, "name"], None, "'name' is a required property")
        self.check_faults(deployment, ["spec", "replicas"], "two", "'two' is not")
        self.check_faults(deployment, ["apiVersion"], "apps/v9", "Couldn't find schema")

    def test_errors_of_kserve_are_reported(self):
        runtime = of_kind("ServingRuntime")
        self.check_faults(runtime, ["spec", "protocols"], ["v2"], "unknown: protocols")
        self.check_faults(runtime, ["spec", "containers"], None, "containers")
        self.check_faults(runtime, ["spec", "multiModel"], "no", "not of type bool")
        self.check_faults(runtime, ["spec", "containers", 0, "readinessProbes"], {}, "readinessProbes")
        self.check_faults(runtime, ["spec", "containers", 0, "ports", 0, "containerPort"], "http", "'http' is not")
        service = of_kind("InferenceService")
        self.check_faults(service, ["spec", "predictor", "minReplicas"], "one", "not of type int")
        self.check_faults(service, ["spec", "predictor", "model", "uri"], "s3://a", "unknown: uri")
        self.check_faults(service, ["metadata", "label"], "a", "label")


class FitTest(unittest.TestCase):
    """Names that one object has and others look for."""

    def test_selectors_find_the_pods(self):
        labels = pod_of(of_kind("Deployment"))["metadata"]["labels"].items()
        selectors = [of_kind("Deployment")["spec"]["selector"]["matchLabels"], of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
                     of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"]]
        selectors.append(of_kind("Service")["spec"]["selector"])
        for selector in selectors:
            self.assertLessEqual(selector.items(), labels)
            self.assertIn(NAME, selector)

    def test_ports_are_those_of_the_container(self):
        [container] = pod_of(of_kind("Deployment"))["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        self.assertEqual(ports, {"http": 8000, "metrics": 8002})
        asked = [container[probe]["httpGet"]["port"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")]
        asked += [port["targetPort"] for port in of_kind("Service")["spec"]["ports"]]
        asked += [port["port"] for rule in of_kind("NetworkPolicy")["spec"]["ingress"] for port in rule["ports"]]
        self.assertLessEqual(set(asked), set(ports))
        self.assertEqual(pod_of(of_kind("Deployment"))["metadata"]["annotations"]["prometheus.io/port"], str(ports["metrics"]))

    def test_volumes_are_there(self):
        pod = pod_of(of_kind("Deployment"))["spec"]
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        self.assertEqual({mount["name"] for mount in pod["containers"][0]["volumeMounts"]}, set(volumes))
        self.assertEqual(volumes["config"]["configMap"]["name"], of_kind("ConfigMap", "wasinn")["metadata"]["name"])
        self.assertEqual(volumes["models"]["persistentVolumeClaim"]["claimName"], of_kind("PersistentVolumeClaim")["metadata"]["name"])

    def test_autoscalers_ask_for_the_metric_that_the_adapter_has(self):
        [rule] = yaml.safe_load(of_kind("ConfigMap", "prometheus-adapter")["data"]["config.yaml"])["rules"]
        metric = rule["name"]["as"]
        self.assertTrue(rule["seriesQuery"].startswith(metric + "{"), rule)
        self.assertIn(f"`{metric}`", (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8"))
        for name in ("wasinn", "digits"):
            scaler = of_kind("HorizontalPodAutoscaler", name)["spec"]
            self.assertEqual([entry["pods"]["metric"]["name"] for entry in scaler["metrics"] if entry["type"] == "Pods"], [metric])
        self.assertEqual(of_kind("HorizontalPodAutoscaler", "wasinn")["spec"]["scaleTargetRef"]["name"], of_kind("Deployment")["metadata"]["name"])
        self.assertEqual(of_kind("HorizontalPodAutoscaler", "digits")["spec"]["scaleTargetRef"]["name"],
                         of_kind("InferenceService")["metadata"]["name"] + "-predictor")

    def test_containers_may_do_nothing_that_they_need_not(self):
        deployment = pod_of(of_kind("Deployment"))["spec"]
        [serve] = deployment["containers"]
        [kserve] = of_kind("ServingRuntime")["spec"]["containers"]
        for context in ({**deployment["securityContext"], **serve["securityContext"]}, kserve["securityContext"]):
            wanted = {"runAsNonRoot": True, "runAsUser": 65532, "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                      "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}
            self.assertEqual({key: context.get(key) for key in wanted}, wanted)


if __name__ == "__main__":
    unittest.main()
