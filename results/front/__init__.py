"""The Pareto front: members with their schedules, dominance and hypervolume, certificate, and the
documents of front.json and certificate.json.
"""

from paretosoc.results.front.certificate import Certificate, CertificateStatus, ProofArtifacts
from paretosoc.results.front.dominance import hypervolume, non_dominated, reference_point
from paretosoc.results.front.front import (
    BaselinePoint,
    CertificateSummary,
    FreeRun,
    Front,
    Member,
    Provenance,
)
from paretosoc.results.front.named_members import choose_member
from paretosoc.results.front.schedule import Schedule, ScheduledGroup

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
