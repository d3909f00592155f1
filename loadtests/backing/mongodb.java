import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

/** mongo-java-server on a port: java MongoDB PORT. */
class MongoDB {
    /** Its newest own version speaks a protocol that PyMongo from 4.18 on refuses; this is that of 7.0. */
    static final MongoVersion VERSION = new MongoVersion() {
        public List<Integer> getVersionArray() {
            return List.of(7, 0, 0);
        }

        public int getWireVersion() {
            return 21;
        }
    };

    public static void main(String[] words) {
        MongoServer server = new MongoServer(new MemoryBackend().version(VERSION));
        server.bind("127.0.0.1", Integer.parseInt(words[0]));
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
    }
}
