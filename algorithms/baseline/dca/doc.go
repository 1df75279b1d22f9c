// Package dca (engine room: may change) learns a metric in which must-linked points are near and
// chunklets that differ far from each other: discriminative component analysis, linear and with a
// kernel (Hoi, Liu, Lyu & Ma, "Learning distance metrics with contextual constraints for image
// retrieval", CVPR 2006).
//
// A chunklet is a must-link component; a linked point without must-links is one of its own. With the means m_j, and D_j the
// chunklets that a cannot-link joins to chunklet j,
//
//	C_b = mean over j and i in D_j of (m_j - m_i)(m_j - m_i)'
//	C_w = mean over j of the covariance of the points of j around m_j
//
// and the directions A maximise |A'C_b A| / |A'C_w A|: those of C_b that are not 0 are whitened by C_b, and then C_w is
// made diagonal and whitened among them, eps added, the directions of least C_w first.
//
// In kernel mode the coordinates are those of the principal directions of all points in the feature space.
package dca
