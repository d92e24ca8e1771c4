/* Graphs: the launches that were captured, which run again and again. */
#include <stdlib.h>

#include "fake.h"

void graph_add(Graph* graph, Launch* launch) {
  Launch** end = &graph->first;
  while (*end != NULL) end = &(*end)->next;
  launch->next = NULL;
  *end = launch;
}

static void clear(Graph* graph) {
  graph->object.alive = false;
  while (graph->first != NULL) {
    Launch* launch = graph->first;
    graph->first = launch->next;
    launch_free(launch);
  }
}

static CUresult instantiate(CUgraphExec* out, CUgraph handle, unsigned long long flags) {
  Graph* graph = object_find(handle, kKindGraph);
  if (out == NULL || graph == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Graph* made = object_new(kKindGraphExec, sizeof(*made));
  for (const Launch* launch = graph->first; launch != NULL; launch = launch->next) {
    graph_add(made, launch_copy(launch));
  }
  *out = HANDLE(CUgraphExec, made);
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  API(kContext, instantiate(out, graph, flags), "graph=%p flags=%llu", (void*)graph, flags);
}

static CUresult launch(Call* call, CUgraphExec handle, CUstream stream) {
  Graph* graph = object_find(handle, kKindGraphExec);
  if (graph == NULL) return CUDA_ERROR_INVALID_VALUE;
  Where where;
  CUresult result = stream_resolve(stream, false, &where);
  if (result != CUDA_SUCCESS) return result;
  if (where.stream == NULL) {
    result = capture_forbids_legacy(where.context);
    if (result != CUDA_SUCCESS) return result;
  } else if (where.stream->capture != NULL) {
    return CUDA_ERROR_NOT_SUPPORTED; /* a child graph: a limit of the fake */
  }
  Launch** end = &call->run;
  for (const Launch* each = graph->first; each != NULL; each = each->next) {
    if (!each->code->alive) {
      violation("graph-outlived", "a graph launches '%s', whose library has been unloaded",
                each->public.kernel);
      return CUDA_ERROR_INVALID_VALUE;
    }
    *end = launch_copy(each);
    end = &(*end)->next;
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  API(kInit, launch(&call, graph, stream), "graph=%p stream=%p", (void*)graph, (void*)stream);
}

static CUresult destroy(const void* handle, Kind kind) {
  Graph* graph = object_find(handle, kind);
  if (graph == NULL) return CUDA_ERROR_INVALID_VALUE;
  clear(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  API(kInit, destroy(graph, kKindGraph), "graph=%p", (void*)graph);
}

CUresult cuGraphExecDestroy(CUgraphExec graph) {
  API(kInit, destroy(graph, kKindGraphExec), "graph=%p", (void*)graph);
}
