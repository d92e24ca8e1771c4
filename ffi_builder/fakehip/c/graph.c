/* Graphs of launches. */
#include "../../fakecuda/c/graph.c"

#include "hip.h"

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* out, hipGraph_t graph,
                                        unsigned long long flags) {
  HIP(kContext, instantiate((CUgraphExec*)out, (CUgraph)graph, flags), "graph=%p flags=%llu",
      (void*)graph, flags);
}

hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t stream) {
  HIP(kInit, launch(&call, (CUgraphExec)graph, (CUstream)stream), "graph=%p stream=%p",
      (void*)graph, (void*)stream);
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  HIP(kInit, destroy(graph, kKindGraph), "graph=%p", (void*)graph);
}

hipError_t hipGraphExecDestroy(hipGraphExec_t graph) {
  HIP(kInit, destroy(graph, kKindGraphExec), "graph=%p", (void*)graph);
}
