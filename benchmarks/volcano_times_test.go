// What Volcano itself takes for a cycle, in process, on the clusters of benchmarks/shapes.py.
//
// In a checkout of volcano-sh/volcano at v1.14.0:
//
//	mkdir pkg/scheduler/timing
//	cp …/benchmarks/volcano_times_test.go pkg/scheduler/timing/
//	python …/benchmarks/shapes.py 10n-50x4 reclaim-100n > /tmp/cases.jsonl
//	CASES=/tmp/cases.jsonl go test ./pkg/scheduler/timing -run Cycle -v | grep ms
//
// Recorded clusters go, too: with TIMES=FILE the cycles' milliseconds are written for `large.py --go`.
// Binder, evictor and status updater are Volcano's own fakes, so nothing waits for an API server.
package timing

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	priorityv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	kubemetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	schedulingv1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topologyv1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"
	"volcano.sh/volcano/pkg/scheduler/util"
)

const runs, room = 5, 1 << 16

type clusterCase struct {
	Name, Conf string
	Objects    []json.RawMessage
}

type phase struct {
	name string
	took time.Duration
}

func TestCycle(t *testing.T) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	options.Default()
	kubemetrics.InitMetrics()
	file, err := os.Open(os.Getenv("CASES"))
	if err != nil {
		t.Skipf("CASES names no file of cases: %v", err)
	}
	defer file.Close()
	times := map[string]float64{}
	for cases := json.NewDecoder(file); cases.More(); {
		var each clusterCase
		if err := cases.Decode(&each); err != nil {
			t.Fatal(err)
		}
		var best []phase
		for range runs {
			phases := cycle(t, each)
			if best == nil || phases[len(phases)-1].took < best[len(best)-1].took {
				best = phases
			}
		}
		var said []string
		for _, p := range best {
			said = append(said, fmt.Sprintf("%s %.1f", p.name, p.took.Seconds()*1e3))
		}
		fmt.Printf("%s: %s ms\n", each.Name, strings.Join(said, ", "))
		times[each.Name] = best[len(best)-1].took.Seconds() * 1e3
	}
	if path := os.Getenv("TIMES"); path != "" {
		text, _ := json.Marshal(times)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cycle runs one cycle on a new cache and returns what each phase took; the last one is the whole.
func cycle(t *testing.T, each clusterCase) []phase {
	known := cache.NewCustomMockSchedulerCache("volcano", util.NewFakeBinder(room),
		util.NewFakeEvictor(room), &util.FakeStatusUpdater{}, nil, nil)
	if recorder, fake := known.Recorder.(*record.FakeRecorder); fake {
		recorder.Events = make(chan string, room) // a full channel stops the scheduler
	}
	stop := make(chan struct{})
	defer close(stop)
	announce(t, known, each.Objects)
	known.Run(stop)
	fill(t, known, each.Objects)
	actions, tiers, configurations, _, err := scheduler.UnmarshalSchedulerConf(each.Conf)
	if err != nil {
		t.Fatal(err)
	}
	conf.EnabledActionMap = map[string]bool{}
	for _, action := range actions {
		conf.EnabledActionMap[action.Name()] = true
	}

	var phases []phase
	begin := time.Now()
	timed := func(name string, do func()) {
		start := time.Now()
		do()
		phases = append(phases, phase{name, time.Since(start)})
	}
	var ssn *framework.Session
	timed("open", func() { ssn = framework.OpenSession(known, tiers, configurations) })
	for _, action := range actions {
		timed(action.Name(), func() {
			action.Initialize()
			action.Execute(ssn)
			action.UnInitialize()
		})
	}
	timed("close", func() { framework.CloseSession(ssn) })
	return append(phases, phase{"cycle", time.Since(begin)})
}

// announce tells the fake API server of the nodes, among which HyperNodes look for theirs.
func announce(t *testing.T, known *cache.SchedulerCache, objects []json.RawMessage) {
	nodes := known.Client().CoreV1().Nodes()
	for _, raw := range objects {
		if kindOf(t, raw) != "Node" {
			continue
		}
		node := read[corev1.Node](t, raw)
		if _, err := nodes.Create(context.Background(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// fill tells the cache of objects; pods come last, as they are looked up by their PodGroups.
func fill(t *testing.T, known *cache.SchedulerCache, objects []json.RawMessage) {
	var pods []*corev1.Pod
	var hyperNodes []*topologyv1.HyperNode
	for _, raw := range objects {
		switch kind := kindOf(t, raw); kind {
		case "Node":
			if err := known.AddOrUpdateNode(read[corev1.Node](t, raw)); err != nil {
				t.Fatal(err)
			}
		case "Queue":
			known.AddQueueV1beta1(read[schedulingv1.Queue](t, raw))
		case "PodGroup":
			known.AddPodGroupV1beta1(read[schedulingv1.PodGroup](t, raw))
		case "Pod":
			pods = append(pods, read[corev1.Pod](t, raw))
		case "PriorityClass":
			known.AddPriorityClass(read[priorityv1.PriorityClass](t, raw))
		case "HyperNode":
			hyperNodes = append(hyperNodes, read[topologyv1.HyperNode](t, raw))
		default:
			t.Fatalf("%s is no kind of these cases", kind)
		}
	}
	for _, hyperNode := range hyperNodes {
		if err := known.HyperNodesInfo.UpdateHyperNode(hyperNode); err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range pods {
		known.AddPod(pod)
	}
}

func kindOf(t *testing.T, raw json.RawMessage) string {
	return read[metav1.TypeMeta](t, raw).Kind
}

func read[Object any](t *testing.T, raw json.RawMessage) *Object {
	object := new(Object)
	if err := json.Unmarshal(raw, object); err != nil {
		t.Fatal(err)
	}
	return object
}
