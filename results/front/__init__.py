"""The Pareto front: members with their schedules, dominance and hypervolume, certificate, and the
documents of front.json and certificate.json.
"""

from results.front.certificate import Certificate, CertificateStatus, ProofArtifacts
from results.front.dominance import hypervolume, non_dominated, reference_point
from results.front.front import (
    BaselinePoint,
    CertificateSummary,
    FreeRun,
    Front,
    Member,
    Provenance,
)
from results.front.named_members import choose_member
from results.front.schedule import Schedule, ScheduledGroup

__all__ = [
    "BaselinePoint",
    "Certificate",
    "CertificateSummary",
    "CertificateStatus",
    "FreeRun",
    "Front",
    "Member",
    "ProofArtifacts",
    "Provenance",
    "Schedule",
    "ScheduledGroup",
    "choose_member",
    "hypervolume",
    "non_dominated",
    "reference_point",
]
