"""Fields of the API that are known and not modelled, because no scheduling decision reads them.

A manifest may carry them without a warning; they are not written out again.
"""

IGNORED: dict[str, frozenset[str]] = {
    owner: frozenset(names.split()) for owner, names in {
        "ObjectMeta":
        "clusterName deletionGracePeriodSeconds finalizers generateName managedFields selfLink",
        "PodSpec":
        """activeDeadlineSeconds automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks
            ephemeralContainers hostAliases hostIPC hostPID hostUsers hostname hostnameOverride
            imagePullSecrets os readinessGates runtimeClassName securityContext serviceAccount
            serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain workloadRef""",
        "Container":
        """args command env envFrom image imagePullPolicy lifecycle livenessProbe
            readinessProbe resizePolicy restartPolicyRules securityContext startupProbe stdin
            stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts
            workingDir""",
        "PodStatus":
        """allocatedResources ephemeralContainerStatuses extendedResourceClaimStatus hostIP hostIPs
            observedGeneration podIP podIPs qosClass resourceClaimStatuses resources""",
        "PodCondition": "lastProbeTime observedGeneration",
        "NodeCondition": "lastHeartbeatTime",
        "ContainerStatus":
        """allocatedResourcesStatus containerID image imageID lastState restartCount started
            stopSignal user volumeMounts""",
        "NodeSpec": "configSource externalID podCIDR podCIDRs providerID",
        "Taint": "timeAdded",
        "NodeStatus":
        """addresses config daemonEndpoints declaredFeatures features images nodeInfo
            runtimeHandlers volumesAttached volumesInUse""",
        "ConfigMap": "binaryData immutable",
        "Namespace": "spec status",
        "ResourceQuotaSpec": "scopeSelector",
        "PodDisruptionBudgetStatus":
        "conditions currentHealthy desiredHealthy expectedPods observedGeneration",
        "QueueStatus": "reservation",
        "VolcanoJobSpec": "runningEstimate",
        "VolcanoJobStatus":
        """conditions controlledResources failed minAvailable pending retryCount running
            runningDuration succeeded taskStatusCount terminating unknown version""",
        "JobState": "lastTransitionTime message reason",
        "LifecyclePolicy": "timeout",
        "PersistentVolumeClaimSpec": "dataSource dataSourceRef",
        "PersistentVolumeClaimStatus":
        """accessModes allocatedResourceStatuses allocatedResources capacity conditions
            currentVolumeAttributesClassName modifyVolumeStatus""",
        "PersistentVolumeSpec":
        """awsElasticBlockStore azureDisk azureFile cephfs cinder fc flexVolume flocker
            gcePersistentDisk glusterfs iscsi mountOptions persistentVolumeReclaimPolicy
            photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume""",
        "PersistentVolumeStatus": "lastPhaseTransitionTime message reason",
        "ClaimReference": "fieldPath resourceVersion",
        "CSIVolumeSource":
        """controllerExpandSecretRef controllerPublishSecretRef fsType nodeExpandSecretRef
            nodePublishSecretRef nodeStageSecretRef readOnly volumeAttributes""",
        "StorageClass": "allowVolumeExpansion mountOptions parameters reclaimPolicy",
        **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "BatchJob"),
                        "status"),
        "WorkloadSpec":
        """activeDeadlineSeconds backoffLimit backoffLimitPerIndex managedBy manualSelector
            maxFailedIndexes minReadySeconds ordinals paused
            persistentVolumeClaimRetentionPolicy podFailurePolicy podManagementPolicy
            podReplacementPolicy progressDeadlineSeconds revisionHistoryLimit serviceName strategy
            successPolicy ttlSecondsAfterFinished updateStrategy volumeClaimTemplates""",
    }.items()
}
"""Class name -> names as a manifest has them."""
