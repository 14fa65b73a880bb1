"""Small sound files in the formats of other tools."""

from __future__ import annotations

TEGRASTATS = (
    "RAM 2000/7852MB (lfb 1154x4MB) CPU [1%@345,off,off,3%@345,0%@345,2%@345] EMC_FREQ 4%@1600 "
    "GR3D_FREQ 10%@624 VDD_SYS_GPU 152/153 VDD_SYS_SOC 687/600 VDD_IN 3056/2900 VDD_SYS_CPU 150/140"
)
XAVIER_LOG = (
    "RAM 1/2MB (lfb 1x2MB) CPU [10%@1190] EMC_FREQ 52%@2133 GR3D_FREQ 99%@1377 GPU 6000/100 "
    "CPU 500/500 SOC 1000/900 CV 0/0 VDDRQ 100/100 SYS5V 2000/2000\n"
)
TRTEXEC_LOG = """[05/08-14:05] [I] Average on 10 runs - GPU latency: 4.0 ms
[05/08-14:05] [I] === Profile (400 iterations ) ===
[05/08-14:05] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
[05/08-14:05] [I]      100.00       0.2500       0.2400      66.7   n0
[05/08-14:05] [I]       50.00       0.1250       0.1200      33.3   n2 + n3
[05/08-14:05] [I]      150.00       0.3750       0.3600     100.0   Total
"""
SDF3 = """<?xml version="1.0"?>
<sdf3 type="sdf" version="1.0"><applicationGraph name="g">
<sdf name="g" type="G">
<actor name="a" type="A"><port name="p" type="out" rate="2"/></actor>
<actor name="b" type="B"><port name="q" type="in" rate="3"/></actor>
<channel name="c" srcActor="a" srcPort="p" dstActor="b" dstPort="q" initialTokens="6"/>
</sdf><sdfProperties>
<actorProperties actor="a"><processor type="x" default="true"><executionTime time="3"/></processor>
</actorProperties>
<actorProperties actor="b"><processor type="x" default="true"><executionTime time="5"/></processor>
</actorProperties></sdfProperties></applicationGraph></sdf3>
"""
MEASURED_TABLE = "network,unit,gpu_mhz,emc_mhz,ms\n" + "".join(
    f"bvlc_alexnet,gpu,{gpu},{emc},{9000 / gpu + 4000 / emc}\n"
    for gpu in (624.75, 1122)
    for emc in (665.6, 1866)
)
LOSSES = """network,layer,format,loss_ppm
squeezenet,n0,int8,100
squeezenet,*,int8,3
squeezenet,*,fp16,1
"""
DEMAND = "group,gpu_gbps,gpu_emc,dla_emc\n0,60,50,25\n"
PAIRS = "after,from,to,base,run\n0,gpu,dla0,2,2.5\n1,gpu,dla0,2,2.9\n"
QAI_HUB = """precisions:
  float:
    components:
      squeezenet:
        performance_metrics:
          Phone:
            qnn_dlc: {inference_time_milliseconds: 1.25, layer_counts: {total: 9, npu: 9}}
  w8a8:
    components:
      squeezenet:
        performance_metrics:
          Phone:
            qnn_dlc: {inference_time_milliseconds: 0.5, layer_counts: {total: 9, npu: 9}}
"""
RKNN = """| model_name | dtype | RK3588 |
| - | - | - |
| squeezenet | INT8 | 250 |
| net | INT8 | 9 |
| mine | INT8 | 500 |
"""
HAILO = """.. list-table::
   :header-rows: 1

   * - Network Name
     - float
     - FPS (Batch Size=1)
     - FPS (Batch Size=8)
   * - squeezenet |star|
     - 71.1
     - 500
     - 500
   * - net2
     - 71.1
     - 20
     - 90
"""
NVPMODEL = """# demo
< PARAM TYPE=FILE NAME=CPU_ONLINE >
CORE_1 /sys/devices/system/cpu/cpu1/online
< PARAM TYPE=CLOCK NAME=CPU_DENVER_0 >
FREQ_TABLE /sys/a
MAX_FREQ /sys/b
MIN_FREQ /sys/c
< PARAM TYPE=CLOCK NAME=GPU >
MAX_FREQ /sys/d
<PARAM TYPE=CLOCK NAME=EMC >
MAX_FREQ /sys/e
< PARAM TYPE=CLOCK NAME=DLA_CORE >
MAX_FREQ /sys/f
< PARAM TYPE=CLOCK NAME=PVA_VPS >
MAX_FREQ /sys/g
< POWER_MODEL ID=3 NAME=SLOW >
CPU_ONLINE CORE_1 0
CPU_DENVER_0 MAX_FREQ 1200000
GPU MAX_FREQ 670000000   # floored by the driver
EMC MAX_FREQ 1331200000
DLA_CORE MAX_FREQ 750000000
PVA_VPS MAX_FREQ 550000000
< POWER_MODEL ID=11 NAME=ALL >
CPU_ONLINE CORE_1 1
CPU_DENVER_0 MAX_FREQ -1
GPU MAX_FREQ -1
EMC MAX_FREQ 0
DLA_CORE MAX_FREQ -1
PVA_VPS MAX_FREQ -1
< PM_CONFIG DEFAULT=3 >
"""
WORKLOAD = """title: Two that share a chip
frames_per_second: 15
networks:
  - name: road
    network: squeezenet
    max_transitions: 1
  - name: driver
    network: emotion_ferplus
    waits_for: [road]
    copies: 2
    arrival_ms: 5
    deadline_ms: 60
"""
CAMPAIGN = """title: Every pair of three networks
networks: [squeezenet, googlenet, resnet18]
together: 2
platforms: [jetson-agx-xavier, jetson-agx-orin-32gb]
power_caps_w: [null, 20]
evaluations: [5000]
tags:
  - when: {platform: jetson-agx-xavier}
    set: {board: Xavier}
warm_start: [power_cap_w]
"""
